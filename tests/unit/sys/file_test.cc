#include "sys/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "support/temp_dir.h"

namespace plimsoll::sys {
namespace {

using testing_support::ReadWholeFile;
using testing_support::TempDir;

class Files : public ::testing::Test {
 protected:
  Files() : root_(*Open(dir_.Path(), O_RDONLY | O_DIRECTORY)) {}
  int Root() const { return root_.Get(); }

  TempDir dir_;
  UniqueFd root_;
};

TEST_F(Files, OpenNamesThePathAndTheErrno) {
  const auto fd = Open(dir_ / "missing", O_RDONLY);
  ASSERT_FALSE(fd.has_value());
  EXPECT_EQ(fd.error().Message(),
            "open '" + dir_ / "missing" + "': No such file or directory (ENOENT)");
  EXPECT_EQ(fd.error().kind, ErrorKind::kHost);
}

TEST_F(Files, DescriptorsAreBornCloseOnExec) {
  dir_.WriteFile("f", "x");
  EXPECT_EQ(::fcntl(Open(dir_ / "f", O_RDONLY)->Get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::fcntl(OpenBeneath(Root(), "f", O_RDONLY, RESOLVE_BENEATH)->Get(), F_GETFD),
            FD_CLOEXEC);
  EXPECT_EQ(::fcntl(SealedMemfd("x", "x", false)->Get(), F_GETFD), FD_CLOEXEC);
  const auto pipe = MakePipe();
  EXPECT_EQ(::fcntl(pipe->read.Get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::fcntl(pipe->write.Get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(Files, OpenBeneathRefusesEveryWayOut) {
  dir_.MakeDirectory("inner");
  ASSERT_EQ(::symlink("/etc/passwd", (dir_ / "absolute").c_str()), 0);
  ASSERT_EQ(::symlink("../..", (dir_ / "inner/up").c_str()), 0);
  for (const char* path : {"../x", "/etc/passwd", "absolute", "inner/up/x", "inner/../../x"}) {
    const auto fd = OpenBeneath(Root(), path, O_RDONLY, RESOLVE_BENEATH);
    ASSERT_FALSE(fd.has_value()) << path;
    EXPECT_EQ(fd.error().sys_errno, EXDEV) << path;
  }
}

TEST_F(Files, OpenBeneathKeepsAnAbsoluteLinkInsideTheRoot) {
  ASSERT_EQ(::symlink("/etc/passwd", (dir_ / "link").c_str()), 0);
  const auto fd = OpenBeneath(Root(), "link", O_RDONLY, RESOLVE_IN_ROOT);
  ASSERT_FALSE(fd.has_value());
  EXPECT_EQ(fd.error().sys_errno, ENOENT) << "the link must not reach the host's file";
}

TEST_F(Files, ReadAllIsRefusedAboveItsLimit) {
  dir_.WriteFile("f", std::string(1000, 'x'));
  EXPECT_EQ(*ReadFile(dir_ / "f", 1000), std::string(1000, 'x'));
  const auto text = ReadFile(dir_ / "f", 999);
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().kind, ErrorKind::kCapacity);
  EXPECT_EQ(text.error().what, "'" + dir_ / "f" + "' is larger than 999 bytes");
}

TEST_F(Files, ReadAllReadsWhatHasNoSize) {
  const auto text = ReadFile("/proc/self/status", 65536);
  ASSERT_TRUE(text.has_value());
  EXPECT_TRUE(text->starts_with("Name:"));
}

TEST_F(Files, ReplaceFileLeavesTheOldOrTheNewOne) {
  dir_.WriteFile("f", "old");
  ASSERT_TRUE(ReplaceFile(Root(), "f", "new", 0640).has_value());
  EXPECT_EQ(ReadWholeFile(dir_ / "f"), "new");
  EXPECT_EQ(StatAt(Root(), "f")->st_mode & 07777U, 0640U);
  EXPECT_EQ(*ListDirectory(Root(), "."), std::vector<std::string>{"f"});
}

TEST_F(Files, ReplaceFileThatFailsLeavesNothing) {
  dir_.MakeDirectory("f/full");
  EXPECT_FALSE(ReplaceFile(Root(), "f", "new", 0640).has_value());
  EXPECT_EQ(*ListDirectory(Root(), "."), std::vector<std::string>{"f"});
}

TEST_F(Files, MakeDirectoriesAcceptsWhatIsThere) {
  ASSERT_TRUE(MakeDirectories(dir_ / "a/b/c", 0700).has_value());
  ASSERT_TRUE(MakeDirectories(dir_ / "a/b/c", 0700).has_value());
  EXPECT_TRUE(S_ISDIR(StatAt(Root(), "a/b/c")->st_mode));
  dir_.WriteFile("file", "");
  EXPECT_FALSE(MakeDirectories(dir_ / "file/x", 0700).has_value());
}

TEST_F(Files, StatAtDoesNotFollowALink) {
  ASSERT_EQ(::symlink("nowhere", (dir_ / "link").c_str()), 0);
  EXPECT_TRUE(S_ISLNK(StatAt(Root(), "link")->st_mode));
}

TEST_F(Files, ListDirectoryIsSortedAndWithoutDots) {
  for (const char* name : {"b", "a", "C", ".hidden"})
    dir_.WriteFile(name, "");
  EXPECT_EQ(*ListDirectory(Root(), "."), (std::vector<std::string>{".hidden", "C", "a", "b"}));
}

TEST_F(Files, RemoveTreeFollowsNoLink) {
  dir_.MakeDirectory("outside");
  dir_.WriteFile("outside/kept", "kept");
  dir_.MakeDirectory("tree/inner");
  ASSERT_EQ(::symlink("../outside", (dir_ / "tree/link").c_str()), 0);
  ASSERT_TRUE(RemoveTree(Root(), "tree").has_value());
  EXPECT_EQ(*ListDirectory(Root(), "."), std::vector<std::string>{"outside"});
  EXPECT_EQ(ReadWholeFile(dir_ / "outside/kept"), "kept");
}

TEST_F(Files, RemoveTreeOpensDirectoriesThatDenyTheirOwner) {
  dir_.MakeDirectory("tree/closed/inner");
  ASSERT_EQ(::chmod((dir_ / "tree/closed/inner").c_str(), 0500), 0);
  ASSERT_EQ(::chmod((dir_ / "tree/closed").c_str(), 0), 0);
  ASSERT_TRUE(RemoveTree(Root(), "tree").has_value());
  EXPECT_TRUE(RemoveTree(Root(), "tree").has_value()) << "what is gone is fine";
}

// Deeper than this process could open directories, or the kernel could name.
TEST_F(Files, RemoveTreeTakesATreeOfAnyDepth) {
  dir_.MakeDirectory("tree");
  UniqueFd at = *OpenAt(Root(), "tree", O_RDONLY | O_DIRECTORY);
  for (int depth = 0; depth < 3000; ++depth) {
    ASSERT_EQ(::mkdirat(at.Get(), "d", 0700), 0);
    ASSERT_EQ(::close(::openat(at.Get(), "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
    at = *OpenAt(at.Get(), "d", O_RDONLY | O_DIRECTORY);
  }
  at.Reset();
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const struct rlimit few = {.rlim_cur = 32, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_TRUE(RemoveTree(Root(), "tree").has_value());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(*ListDirectory(Root(), "."), std::vector<std::string>{});
}

TEST_F(Files, SealedMemfdCannotBeChanged) {
  const auto fd = SealedMemfd("name", "content", true);
  ASSERT_TRUE(fd.has_value());
  EXPECT_LT(::pwrite(fd->Get(), "x", 1, 0), 0);
  EXPECT_NE(::ftruncate(fd->Get(), 0), 0);
  EXPECT_EQ(::fcntl(fd->Get(), F_GET_SEALS) & (F_SEAL_WRITE | F_SEAL_SEAL),
            F_SEAL_WRITE | F_SEAL_SEAL);
}

TEST(UniqueFd, ClosesItsDescriptorOnce) {
  int number = -1;
  {
    UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = fd.Get();
    UniqueFd moved(std::move(fd));
    EXPECT_EQ(moved.Get(), number);
    EXPECT_GE(::fcntl(number, F_GETFD), 0);
  }
  EXPECT_LT(::fcntl(number, F_GETFD), 0);
}

TEST(UniqueFd, HandsOverByRelease) {
  UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = fd.Release();
  EXPECT_FALSE(fd.IsOpen());
  fd.Reset();
  EXPECT_EQ(::close(number), 0);
}

}  // namespace
}  // namespace plimsoll::sys
