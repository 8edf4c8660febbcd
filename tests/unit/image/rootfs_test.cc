// From a reference to an open tree: names, paths, the embedded image, and many first runs at once.
#include "image/rootfs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "sys/file.h"
#include "unit/image/store_fixture.h"

namespace plimsoll::image {
namespace {

using testing_support::BuildImage;
using testing_support::BuiltImage;
using testing_support::DescriptorOf;
using testing_support::IndexJson;
using testing_support::LayoutFiles;
using testing_support::LayoutOfSeveral;
using testing_support::ReadWholeFile;
using testing_support::TarBuilder;
using testing_support::TarOf;

class PrepareRootfsTest : public StoreTest {
 protected:
  std::string WhyNot(const std::string& reference) {
    const auto rootfs = PrepareRootfs(StorePath(), reference);
    return rootfs ? "" : rootfs.error().Message();
  }

  // Forks `count` processes that all call `act` once they may; how many of them returned true.
  static int RunAtOnce(int count, const std::function<bool()>& act) {
    int gate[2];
    EXPECT_EQ(::pipe(gate), 0);
    std::vector<pid_t> children;
    for (int at = 0; at < count; ++at) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::close(gate[1]);
        char byte = 0;
        (void)!::read(gate[0], &byte, 1);  // until the parent closes its end
        ::_exit(act() ? 0 : 1);
      }
      children.push_back(pid);
    }
    ::close(gate[0]);
    ::close(gate[1]);
    int good = 0;
    for (const pid_t pid : children) {
      int status = 0;
      EXPECT_EQ(::waitpid(pid, &status, 0), pid);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) ++good;
    }
    return good;
  }
};

TEST_F(PrepareRootfsTest, TheEmbeddedImageNeedsNothing) {
  const auto rootfs = PrepareRootfs(StorePath(), "");
  ASSERT_TRUE(rootfs) << rootfs.error().Message();
  EXPECT_EQ(rootfs->environment, "oci-image:" + rootfs->manifest.ToString());
  EXPECT_EQ(::faccessat(rootfs->tree.Get(), "bin/busybox", X_OK, 0), 0);
  EXPECT_EQ(rootfs->config.cmd, std::vector<std::string>{"sh"});
  EXPECT_NE(ReadWholeFile(rootfs->tree_path + "/etc/passwd").find(":1000:1000:"),
            std::string::npos);
}

TEST_F(PrepareRootfsTest, TheStoreIsPrivate) {
  ASSERT_TRUE(PrepareRootfs(StorePath(), ""));
  struct stat status = {};
  ASSERT_EQ(::stat(StorePath().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

TEST_F(PrepareRootfsTest, TheSecondTimeNothingIsWritten) {
  ASSERT_TRUE(PrepareRootfs(StorePath(), ""));
  struct stat before = {};
  ASSERT_EQ(::stat((StorePath() + "/trees").c_str(), &before), 0);
  ASSERT_TRUE(PrepareRootfs(StorePath(), ""));
  struct stat after = {};
  ASSERT_EQ(::stat((StorePath() + "/trees").c_str(), &after), 0);
  EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

TEST_F(PrepareRootfsTest, ARelativeStorePathBecomesAbsolute) {
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(dir_.Path());
  const auto rootfs = PrepareRootfs("store", "");
  std::filesystem::current_path(before);
  ASSERT_TRUE(rootfs) << rootfs.error().Message();
  EXPECT_TRUE(rootfs->tree_path.starts_with(StorePath())) << rootfs->tree_path;
}

TEST_F(PrepareRootfsTest, ANewerStoreIsRefused) {
  ASSERT_TRUE(PrepareRootfs(StorePath(), ""));
  std::ofstream(StorePath() + "/version") << "2\n";
  const auto rootfs = PrepareRootfs(StorePath(), "");
  ASSERT_FALSE(rootfs);
  EXPECT_EQ(rootfs.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(rootfs.error().what,
            "the image store has format 2; this plimsoll reads formats up to 1");
}

TEST_F(PrepareRootfsTest, AnUnknownNameSuggestsTheNearest) {
  ASSERT_TRUE(Import(WriteLayout("l", LayoutFiles(SmallImage("x"), "")), "python:3.12"));
  const auto typo = PrepareRootfs(StorePath(), "pyhton:3.12");
  ASSERT_FALSE(typo);
  EXPECT_EQ(typo.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(typo.error().what, "the store has no image 'pyhton:3.12'");
  EXPECT_EQ(typo.error().hint,
            "did you mean 'python:3.12'? 'plimsoll image ls' lists what is there, "
            "'plimsoll image import SRC --name pyhton' brings one in");
  const auto tag = PrepareRootfs(StorePath(), "python");
  ASSERT_FALSE(tag);
  EXPECT_NE(tag.error().hint.find("it has 'python' with the tags 3.12"), std::string::npos);
}

TEST_F(PrepareRootfsTest, AMalformedReferenceIsARequestError) {
  const auto rootfs = PrepareRootfs(StorePath(), "Not A Name");
  ASSERT_FALSE(rootfs);
  EXPECT_EQ(rootfs.error().kind, ErrorKind::kRequest);
}

TEST_F(PrepareRootfsTest, ALayoutIsImportedOnFirstUseOnly) {
  const BuiltImage image = SmallImage("from a layout");
  const std::string layout = WriteLayout("l", LayoutFiles(image, "tag"));
  EXPECT_EQ(Word("oci:" + layout), "from a layout");
  EXPECT_EQ(Word("oci:" + layout + ":tag"), "from a layout");
  EXPECT_NE(Word("oci:" + layout + ":other").find("no image 'other'; it has 'tag'"),
            std::string::npos);
  std::filesystem::remove(layout + "/blobs/sha256/" + image.blobs[0].first);
  EXPECT_EQ(Word("oci:" + layout), "from a layout") << "the layer is not read again";
}

TEST_F(PrepareRootfsTest, ALayoutOfAnImageThatHasANameIsNotImportedAgain) {
  const BuiltImage image = SmallImage("x");
  const std::string layout = WriteLayout("l", LayoutFiles(image, ""));
  ASSERT_TRUE(Import(layout, "a:1"));
  const std::size_t records = CountIn("images");
  EXPECT_EQ(Word("oci:" + layout), "x");
  EXPECT_EQ(Word("@" + image.manifest_digest), "x");
  EXPECT_EQ(Word(image.manifest_digest), "x");
  EXPECT_EQ(CountIn("images"), records);
  const std::string other = SmallImage("other").manifest_digest;
  EXPECT_EQ(WhyNot(other), "the store has no image '@" + other + "'");
}

TEST_F(PrepareRootfsTest, AChangedLayoutIsAnotherImage) {
  const std::string layout = WriteLayout("l", LayoutFiles(SmallImage("old"), ""));
  EXPECT_EQ(Word("oci:" + layout), "old");
  WriteLayout("l", LayoutFiles(SmallImage("new"), ""));
  EXPECT_EQ(Word("oci:" + layout), "new");
}

TEST_F(PrepareRootfsTest, SeveralImagesNeedATag) {
  const BuiltImage one = SmallImage("one");
  const BuiltImage two = SmallImage("two");
  const std::string layout = WriteLayout(
      "l", LayoutOfSeveral({one, two},
                           IndexJson({DescriptorOf(one, "1", ""), DescriptorOf(two, "2", "")})));
  EXPECT_EQ(Word("oci:" + layout + ":2"), "two");
  EXPECT_NE(WhyNot("oci:" + layout).find("has 2 images: '1', '2'"), std::string::npos);
}

TEST_F(PrepareRootfsTest, AnArchiveIsReadAgainWhenItsFileChanged) {
  const std::string path = dir_.WriteFile("a.tar", TarOf(LayoutFiles(SmallImage("one"), "")));
  // A file that was changed a moment ago is read each time; wait for the first run that remembers.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!std::filesystem::exists(StorePath() + "/archives") || CountIn("archives") == 0) {
    ASSERT_EQ(Word("oci-archive:" + path), "one");
    ASSERT_LT(std::chrono::steady_clock::now(), patience);
  }
  dir_.WriteFile("a.tar", TarOf(LayoutFiles(SmallImage("two"), "")));
  EXPECT_EQ(Word("oci-archive:" + path), "two");
}

TEST_F(PrepareRootfsTest, ARememberedArchiveIsNotRead) {
  const std::string path = dir_.WriteFile("a.tar", TarOf(LayoutFiles(SmallImage("one"), "")));
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!std::filesystem::exists(StorePath() + "/archives") || CountIn("archives") == 0) {
    ASSERT_EQ(Word("docker-archive:" + path), "one");
    ASSERT_LT(std::chrono::steady_clock::now(), patience);
  }
  int reads = 0;
  const Progress progress = [&](const Step&) { ++reads; };
  const auto rootfs =
      PrepareRootfs(StorePath(), "docker-archive:" + path, {.limits = {}, .progress = progress});
  ASSERT_TRUE(rootfs) << rootfs.error().Message();
  EXPECT_EQ(reads, 0);
}

TEST_F(PrepareRootfsTest, ATreeThatWasRemovedIsMadeAgain) {
  ASSERT_TRUE(Import(WriteLayout("l", LayoutFiles(SmallImage("x"), "")), "a:1"));
  std::filesystem::remove_all(StorePath() + "/trees");
  std::filesystem::create_directory(StorePath() + "/trees");
  std::filesystem::remove_all(StorePath() + "/layers");
  std::filesystem::create_directory(StorePath() + "/layers");
  EXPECT_EQ(Word("a:1"), "x");
}

TEST_F(PrepareRootfsTest, FirstRunsAtOnceAllWork) {
  const BuiltImage image = SmallImage("shared");
  const std::string layout = WriteLayout("l", LayoutFiles(image, ""));
  EXPECT_EQ(RunAtOnce(8, [&] { return Word("oci:" + layout) == "shared"; }), 8);
  EXPECT_EQ(CountIn("layers"), 1U);
  EXPECT_EQ(CountIn("trees"), 1U);
  EXPECT_EQ(CountIn("tmp"), 0U);
}

TEST_F(PrepareRootfsTest, FirstRunsOfTheEmbeddedImageAtOnceAllWork) {
  EXPECT_EQ(RunAtOnce(8, [&] { return PrepareRootfs(StorePath(), "").has_value(); }), 8);
  EXPECT_EQ(CountIn("layers"), 1U);
  EXPECT_EQ(CountIn("tmp"), 0U);
}

TEST_F(PrepareRootfsTest, WhatAKilledProcessLeftIsClearedByTheNext) {
  const Store store = OpenStore();
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const auto work = WorkDirectory::Claim(store, "layer-killed");
    const bool made = work && ::mkdirat(work->Fd(), "rootfs", 0700) == 0;
    (void)!::write(told[1], made ? "y" : "n", 1);
    for (;;)
      ::pause();
  }
  char made = 'n';
  ASSERT_EQ(::read(told[0], &made, 1), 1);
  EXPECT_EQ(made, 'y');
  ASSERT_TRUE(PrepareRootfs(StorePath(), ""));
  EXPECT_TRUE(std::filesystem::exists(StorePath() + "/tmp/layer-killed/rootfs"))
      << "its owner lives";
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  ASSERT_TRUE(PrepareRootfs(StorePath(), ""));
  EXPECT_EQ(CountIn("tmp"), 0U);
  ::close(told[0]);
  ::close(told[1]);
}

TEST_F(PrepareRootfsTest, TheTreeIsLockedAsLongAsItIsUsed) {
  auto rootfs = PrepareRootfs(StorePath(), "");
  ASSERT_TRUE(rootfs);
  const std::string lock = std::filesystem::path(rootfs->tree_path).parent_path() / "lock";
  const auto fd = sys::Open(lock, O_RDONLY);
  ASSERT_TRUE(fd);
  EXPECT_NE(::flock(fd->Get(), LOCK_EX | LOCK_NB), 0);
  rootfs->lock.Reset();
  EXPECT_EQ(::flock(fd->Get(), LOCK_EX | LOCK_NB), 0);
}

}  // namespace
}  // namespace plimsoll::image
