#include "support/temp_dir.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdio>

#include "sys/file.h"

namespace plimsoll::testing_support {
namespace {

constexpr std::size_t kMaxFile = std::size_t{64} << 20U;

}  // namespace

TempDir::TempDir() {
  const char* base = ::getenv("TMPDIR");
  path_ = std::string(base != nullptr ? base : "/tmp") + "/plimsoll-test-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) {
    std::perror(path_.c_str());
    ::abort();
  }
}

TempDir::~TempDir() {
  if (const auto removed = sys::RemoveTree(AT_FDCWD, path_); !removed) {
    ADD_FAILURE() << removed.error().Message();
  }
}

std::string TempDir::MakeDirectory(std::string_view name) const {
  const std::string path = *this / name;
  const auto made = sys::MakeDirectories(path, 0755);
  EXPECT_TRUE(made.has_value()) << path;
  return path;
}

std::string TempDir::WriteFile(std::string_view name, std::string_view text, unsigned mode) const {
  const std::string path = *this / name;
  const auto fd = sys::Open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
  EXPECT_TRUE(fd && sys::WriteAll(fd->Get(), text, path)) << path;
  EXPECT_EQ(::chmod(path.c_str(), mode), 0) << path;
  return path;
}

std::string ReadWholeFile(const std::string& path) {
  auto text = sys::ReadFile(path, kMaxFile);
  if (text) return *std::move(text);
  ADD_FAILURE() << text.error().Message();
  return {};
}

}  // namespace plimsoll::testing_support
