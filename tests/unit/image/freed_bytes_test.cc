// What would be freed, against what the file system says of each file.
#include "image/freed_bytes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "support/temp_dir.h"

namespace plimsoll::image {
namespace {

std::uint64_t Occupied(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

class FreedBytesTest : public ::testing::Test {
 protected:
  std::uint64_t Freed(const std::string& name) const {
    const auto freed = FreedBytes(AT_FDCWD, dir_ / name);
    EXPECT_TRUE(freed) << freed.error().Message();
    return freed ? *freed : 0;
  }

  testing_support::TempDir dir_;
};

TEST_F(FreedBytesTest, AreWhatFilesAndDirectoriesOccupy) {
  dir_.MakeDirectory("a/b");
  const std::string file = dir_.WriteFile("a/b/file", std::string(100'000, 'x'));
  const std::string sparse = dir_.WriteFile("a/sparse", "");
  ASSERT_EQ(::truncate(sparse.c_str(), 1 << 30), 0);
  std::filesystem::create_symlink("/etc", dir_ / "a/link");
  EXPECT_EQ(Freed("a"), Occupied(dir_ / "a") + Occupied(dir_ / "a/b") + Occupied(file) +
                            Occupied(sparse) + Occupied(dir_ / "a/link"));
  EXPECT_GE(Freed("a/b/file"), 100'000U);
  EXPECT_LT(Freed("a/sparse"), 1U << 20U);
}

TEST_F(FreedBytesTest, CountAFileWithItsLastName) {
  dir_.MakeDirectory("a");
  dir_.MakeDirectory("b");
  const std::string file = dir_.WriteFile("a/1", std::string(100'000, 'x'));
  std::filesystem::create_hard_link(file, dir_ / "a/2");
  EXPECT_EQ(Freed("a"), Occupied(dir_ / "a") + Occupied(file)) << "both names go";
  std::filesystem::create_hard_link(file, dir_ / "b/3");
  EXPECT_EQ(Freed("a"), Occupied(dir_ / "a")) << "b/3 stays";
}

TEST_F(FreedBytesTest, CountWhatADirectoryHidesFromItsOwner) {
  dir_.MakeDirectory("a/closed");
  const std::string file = dir_.WriteFile("a/closed/file", std::string(100'000, 'x'));
  ASSERT_EQ(::chmod((dir_ / "a/closed").c_str(), 0), 0);
  EXPECT_GE(Freed("a"), 100'000U);
}

TEST_F(FreedBytesTest, OfNothingAreAnError) {
  const auto freed = FreedBytes(AT_FDCWD, dir_ / "nothing");
  ASSERT_FALSE(freed);
  EXPECT_EQ(freed.error().sys_errno, ENOENT);
}

}  // namespace
}  // namespace plimsoll::image
