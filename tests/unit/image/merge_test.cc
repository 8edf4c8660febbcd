// Merging layers: whiteouts, opaque directories, links across layers, and the skeleton.
#include "image/merge.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "image/layer.h"
#include "support/tar_builder.h"
#include "support/temp_dir.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

using testing_support::ReadWholeFile;
using testing_support::TarBuilder;
using testing_support::TempDir;

class MergeLayersTest : public ::testing::Test {
 protected:
  void AddLayer(const TarBuilder& tar) {
    const std::string name = "layer" + std::to_string(layers_.size());
    const std::string blob = tar.Finish();
    const auto dir = sys::Open(dir_.MakeDirectory(name), O_RDONLY | O_DIRECTORY);
    auto layer = UnpackLayer({.fd = -1, .bytes = blob, .name = name}, {}, {}, dir->Get());
    ASSERT_TRUE(layer) << layer.error().Message();
    MergeLayer merge;
    merge.root = *sys::OpenAt(dir->Get(), "rootfs", O_RDONLY | O_DIRECTORY);
    merge.facts = layer->facts;
    merge.name = name;
    layers_.push_back(std::move(merge));
  }

  Result<void> Merge() {
    const auto work = sys::Open(dir_.MakeDirectory("work"), O_RDONLY | O_DIRECTORY);
    return MergeLayers(layers_, work->Get());
  }
  void MergeAll() {
    const auto merged = Merge();
    ASSERT_TRUE(merged) << merged.error().Message();
  }

  std::string In(const std::string& path) const { return dir_ / ("work/rootfs/" + path); }
  std::string InLayer(std::size_t layer, const std::string& path) const {
    return dir_ / ("layer" + std::to_string(layer) + "/rootfs/" + path);
  }
  struct stat Status(const std::string& path) const {
    struct stat status = {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
  }
  bool Exists(const std::string& path) const {
    return std::filesystem::exists(std::filesystem::symlink_status(In(path)));
  }

  TempDir dir_;
  std::vector<MergeLayer> layers_;
};

TEST_F(MergeLayersTest, HigherLayersWinAndFilesAreLinks) {
  AddLayer(TarBuilder().File("a", "low").File("d/only-low", "x").File("d/both", "low"));
  AddLayer(TarBuilder().File("a", "high").File("d/both", "high"));
  MergeAll();
  EXPECT_EQ(ReadWholeFile(In("a")), "high");
  EXPECT_EQ(ReadWholeFile(In("d/both")), "high");
  EXPECT_EQ(ReadWholeFile(In("d/only-low")), "x");
  EXPECT_EQ(Status(In("a")).st_ino, Status(InLayer(1, "a")).st_ino);
}

TEST_F(MergeLayersTest, AWhiteoutRemovesWhatIsBelow) {
  AddLayer(TarBuilder().File("d/old", "x").File("d/stay", "x").File("tree/a/b", "x"));
  AddLayer(TarBuilder().File("d/.wh.old", "").File(".wh.tree", "").File(".wh.never-there", ""));
  MergeAll();
  EXPECT_FALSE(Exists("d/old"));
  EXPECT_TRUE(Exists("d/stay"));
  EXPECT_FALSE(Exists("tree"));
  EXPECT_FALSE(Exists("d/.wh.old"));
}

TEST_F(MergeLayersTest, AWhiteoutDoesNotHideItsOwnLayer) {
  AddLayer(TarBuilder().File("d/f", "low").File("d/g", "low"));
  AddLayer(TarBuilder().File("d/f", "high").File("d/.wh.f", "").File(".wh.d", ""));
  MergeAll();
  EXPECT_EQ(ReadWholeFile(In("d/f")), "high");
  EXPECT_FALSE(Exists("d/g"));
}

TEST_F(MergeLayersTest, AWhiteoutOfASymlinkLeavesItsTarget) {
  AddLayer(TarBuilder().File("etc/target", "x").Symlink("etc/localtime", "target"));
  AddLayer(TarBuilder().File("etc/.wh.localtime", ""));
  MergeAll();
  EXPECT_FALSE(Exists("etc/localtime"));
  EXPECT_TRUE(Exists("etc/target"));
}

TEST_F(MergeLayersTest, AWhiteoutBeneathASymlinkStaysInTheTree) {
  dir_.MakeDirectory("outside");
  dir_.WriteFile("outside/secret", "secret");
  AddLayer(TarBuilder().Symlink("d", dir_ / "outside"));
  AddLayer(TarBuilder().File("d/.wh.secret", ""));
  MergeAll();
  EXPECT_EQ(ReadWholeFile(dir_ / "outside/secret"), "secret");
}

TEST_F(MergeLayersTest, AnOpaqueDirectoryHidesWhatIsBelow) {
  AddLayer(TarBuilder().File("d/low", "x").File("d/sub/low", "x").File("e/low", "x"));
  AddLayer(TarBuilder().Directory("d").File("d/high", "x").File("d/.wh..wh..opq", ""));
  MergeAll();
  EXPECT_FALSE(Exists("d/low"));
  EXPECT_FALSE(Exists("d/sub"));
  EXPECT_TRUE(Exists("d/high"));
  EXPECT_TRUE(Exists("e/low"));
}

TEST_F(MergeLayersTest, FilesAndDirectoriesReplaceEachOther) {
  AddLayer(TarBuilder().File("f", "x").File("d/in", "x").Symlink("s", "d"));
  AddLayer(TarBuilder().File("f/in", "x").File("d", "file").Directory("s").File("s/own", "x"));
  MergeAll();
  EXPECT_EQ(ReadWholeFile(In("f/in")), "x");
  EXPECT_EQ(ReadWholeFile(In("d")), "file");
  EXPECT_TRUE(S_ISDIR(Status(In("s")).st_mode)) << "an entry of its own replaces the link";
  EXPECT_TRUE(Exists("s/own"));
}

TEST_F(MergeLayersTest, AnImpliedDirectoryGoesWhereTheLinkBelowLeads) {
  AddLayer(TarBuilder().File("usr/lib/a", "low").Symlink("lib", "usr/lib"));
  AddLayer(TarBuilder().File("lib/b", "high"));
  MergeAll();
  EXPECT_TRUE(S_ISLNK(Status(In("lib")).st_mode));
  EXPECT_EQ(ReadWholeFile(In("usr/lib/b")), "high");
}

TEST_F(MergeLayersTest, AnImpliedDirectoryNeverLeadsOut) {
  dir_.MakeDirectory("outside");
  AddLayer(TarBuilder().Symlink("abs", dir_ / "outside").Symlink("up", "../../../outside"));
  AddLayer(TarBuilder().File("abs/x", "x").File("up/x", "x"));
  MergeAll();
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "outside"));
  EXPECT_EQ(ReadWholeFile(In("abs/x")), "x");
  EXPECT_EQ(ReadWholeFile(In("up/x")), "x");
}

TEST_F(MergeLayersTest, AHardLinkAcrossLayersStaysALink) {
  AddLayer(TarBuilder().File("bin/old", "tool"));
  AddLayer(TarBuilder().Hardlink("bin/new", "bin/old"));
  MergeAll();
  EXPECT_EQ(ReadWholeFile(In("bin/new")), "tool");
  EXPECT_EQ(Status(In("bin/new")).st_ino, Status(In("bin/old")).st_ino);
  EXPECT_GE(Status(In("bin/new")).st_nlink, 2U);
}

TEST_F(MergeLayersTest, AHardLinkSurvivesTheWhiteoutOfItsTarget) {
  AddLayer(TarBuilder().File("old", "tool"));
  AddLayer(TarBuilder().Hardlink("new", "old").File(".wh.old", ""));
  MergeAll();
  EXPECT_EQ(ReadWholeFile(In("new")), "tool");
  EXPECT_FALSE(Exists("old"));
}

TEST_F(MergeLayersTest, AHardLinkToALinkAcrossLayersIsOneToo) {
  AddLayer(TarBuilder().File("a", "x"));
  AddLayer(TarBuilder().Hardlink("b", "a").Hardlink("c", "b"));
  MergeAll();
  EXPECT_EQ(Status(In("c")).st_ino, Status(In("a")).st_ino);
}

TEST_F(MergeLayersTest, ADirectoryInThePlaceOfALinkAcrossLayersKeepsItsEntries) {
  AddLayer(TarBuilder().File("a", "x"));
  AddLayer(TarBuilder().Hardlink("d", "a").File("d/x", "kept"));
  MergeAll();
  EXPECT_EQ(ReadWholeFile(In("d/x")), "kept");
}

// Each layer's link leads as deep as a name may be, so that the next layer's link starts there.
TEST_F(MergeLayersTest, LinksOfLayersDoNotAddUpToATreeWithoutAnEnd) {
  std::string deep;
  for (int i = 0; i < 100; ++i)
    deep += "d/";
  AddLayer(TarBuilder().Directory(deep).Symlink("s0", deep));
  AddLayer(TarBuilder().File("s0/" + deep + "x", "x").Symlink("s1", "s0/" + deep));
  AddLayer(TarBuilder().File("s1/" + deep + "x", "x"));
  const auto merged = Merge();
  ASSERT_FALSE(merged);
  EXPECT_NE(merged.error().Message().find("leads by symbolic links of other layers more than 128"),
            std::string::npos)
      << merged.error().Message();
}

TEST_F(MergeLayersTest, AHardLinkToNothingIsRefused) {
  AddLayer(TarBuilder().File("a", "x"));
  AddLayer(TarBuilder().Hardlink("new", "nowhere/old"));
  const auto merged = Merge();
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().Message(),
            "merge layer layer1: entry 'new' is a hard link to 'nowhere/old', which is no file of "
            "the layers below: No such file or directory (ENOENT)");
}

TEST_F(MergeLayersTest, AHardLinkThroughALinkBelowIsRefused) {
  dir_.MakeDirectory("outside");
  dir_.WriteFile("outside/secret", "secret");
  AddLayer(TarBuilder().Symlink("d", dir_ / "outside"));
  AddLayer(TarBuilder().Hardlink("loot", "d/secret"));
  EXPECT_FALSE(Merge());
  EXPECT_EQ(Status(dir_ / "outside/secret").st_nlink, 1U);
}

TEST_F(MergeLayersTest, DirectoriesTakeModeAndTimeOfTheHighestEntry) {
  AddLayer(TarBuilder().Directory("d", {.mode = 0711, .mtime = 1000}).File("d/a", "x"));
  AddLayer(TarBuilder().File("d/b", "x"));
  MergeAll();
  EXPECT_EQ(Status(In("d")).st_mode & 07777U, 0711U) << "implied above: the layer below decides";
  EXPECT_EQ(Status(In("d")).st_mtime, 1000);
}

TEST_F(MergeLayersTest, AReadOnlyDirectoryBelowTakesEntriesFromAbove) {
  AddLayer(TarBuilder().Directory("ro", {.mode = 0555}).File("ro/a", "x"));
  AddLayer(TarBuilder().Directory("ro", {.mode = 0555}).File("ro/b", "x").File("ro/.wh.a", ""));
  MergeAll();
  EXPECT_FALSE(Exists("ro/a"));
  EXPECT_TRUE(Exists("ro/b"));
  EXPECT_EQ(Status(In("ro")).st_mode & 07777U, 0555U);
}

TEST_F(MergeLayersTest, NoLayerIsChanged) {
  AddLayer(TarBuilder().File("etc/hosts", "image's").File("etc/passwd", "root:x:0:0::/:\n"));
  AddLayer(TarBuilder().File(".wh.gone", "").File("x", "x"));
  MergeAll();
  EXPECT_EQ(ReadWholeFile(InLayer(0, "etc/hosts")), "image's");
  EXPECT_EQ(ReadWholeFile(InLayer(0, "etc/passwd")), "root:x:0:0::/:\n");
  EXPECT_FALSE(std::filesystem::exists(InLayer(0, "dev")));
}

// The skeleton.

TEST_F(MergeLayersTest, AddsMountPointsDevicesAndFiles) {
  AddLayer(TarBuilder());
  MergeAll();
  for (const char* path :
       {"proc", "sys", "dev", "dev/pts", "dev/shm", "tmp", "run", "work", "etc"}) {
    EXPECT_TRUE(S_ISDIR(Status(In(path)).st_mode)) << path;
  }
  for (const char* path : {"null", "zero", "full", "random", "urandom", "tty"}) {
    EXPECT_TRUE(S_ISREG(Status(In("dev/" + std::string(path))).st_mode)) << path;
  }
  EXPECT_EQ(std::filesystem::read_symlink(In("dev/fd")), "/proc/self/fd");
  EXPECT_EQ(std::filesystem::read_symlink(In("dev/ptmx")), "pts/ptmx");
  EXPECT_EQ(Status(In("tmp")).st_mode & 07777U, 01777U);
  EXPECT_EQ(Status(In("work")).st_mode & 07777U, 0755U);
  EXPECT_EQ(ReadWholeFile(In("etc/hostname")), "plimsoll\n");
  EXPECT_EQ(ReadWholeFile(In("etc/resolv.conf")), "");
  EXPECT_EQ(ReadWholeFile(In("etc/passwd")),
            "root:x:0:0:root:/root:/bin/sh\nplimsoll:x:1000:1000:plimsoll:/work:/bin/sh\n");
  EXPECT_EQ(ReadWholeFile(In("etc/group")), "root:x:0:\nplimsoll:x:1000:\n");
}

TEST_F(MergeLayersTest, TheSkeletonReplacesLinksAndNeverFollowsThem) {
  dir_.MakeDirectory("outside");
  dir_.WriteFile("outside/hosts", "host's");
  TarBuilder tar;
  for (const char* name : {"proc", "dev", "tmp", "run", "work", "sys"}) {
    tar.Symlink(name, dir_ / "outside");
  }
  tar.Symlink("etc/hosts", dir_ / "outside/hosts").File("etc/hostname/deep", "x");
  AddLayer(tar);
  MergeAll();
  for (const char* name : {"proc", "dev", "tmp", "run", "work", "sys"}) {
    EXPECT_TRUE(S_ISDIR(Status(In(name)).st_mode)) << name;
  }
  EXPECT_EQ(ReadWholeFile(dir_ / "outside/hosts"), "host's");
  EXPECT_TRUE(S_ISREG(Status(In("etc/hosts")).st_mode));
  EXPECT_EQ(ReadWholeFile(In("etc/hostname")), "plimsoll\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_ / "outside"), {}), 1);
}

TEST_F(MergeLayersTest, TheSkeletonEmptiesDevAndSys) {
  AddLayer(TarBuilder().File("dev/own", "x").Fifo("dev/null").File("sys/fs/x", "x"));
  MergeAll();
  EXPECT_FALSE(Exists("dev/own"));
  EXPECT_TRUE(S_ISREG(Status(In("dev/null")).st_mode));
  EXPECT_TRUE(std::filesystem::is_empty(In("sys")));
}

TEST_F(MergeLayersTest, AccountsKeepTheImagesAndGetOneLine) {
  AddLayer(TarBuilder()
               .File("etc/passwd", "root:x:0:0::/root:/bin/sh\napp:x:1001:0::/:")
               .File("etc/group", "root:x:0:\nnode:x:1000:\n"));
  MergeAll();
  EXPECT_EQ(ReadWholeFile(In("etc/passwd")),
            "root:x:0:0::/root:/bin/sh\napp:x:1001:0::/:\n"
            "plimsoll:x:1000:1000:plimsoll:/work:/bin/sh\n");
  EXPECT_EQ(ReadWholeFile(In("etc/group")), "root:x:0:\nnode:x:1000:\n");
}

TEST_F(MergeLayersTest, AccountsBehindALinkAreReadInsideTheTree) {
  AddLayer(TarBuilder()
               .File("usr/share/passwd", "inner:x:0:0::/:/bin/sh\n")
               .Symlink("etc/passwd", "/usr/share/passwd")
               .Symlink("etc/group", "/proc/self/environ"));
  MergeAll();
  EXPECT_EQ(ReadWholeFile(In("etc/passwd")),
            "inner:x:0:0::/:/bin/sh\nplimsoll:x:1000:1000:plimsoll:/work:/bin/sh\n");
  EXPECT_EQ(ReadWholeFile(In("etc/group")), "root:x:0:\nplimsoll:x:1000:\n");
  EXPECT_TRUE(S_ISREG(Status(In("etc/passwd")).st_mode));
}

TEST_F(MergeLayersTest, AccountsThatAreAFifoDoNotBlock) {
  AddLayer(TarBuilder().Fifo("etc/passwd"));
  MergeAll();
  EXPECT_TRUE(S_ISREG(Status(In("etc/passwd")).st_mode));
}

}  // namespace
}  // namespace plimsoll::image
