// A layer's directory for tests that unpack, and what a hostile layer would like to reach.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "image/layer.h"
#include "support/tar_builder.h"
#include "support/temp_dir.h"
#include "sys/file.h"

namespace plimsoll::image {

using testing_support::ReadWholeFile;
using testing_support::TarBuilder;
using testing_support::TempDir;

// A layer's directory, and beside it what a hostile layer would like to reach.
class UnpackLayerTest : public ::testing::Test {
 protected:
  UnpackLayerTest() {
    dir_.MakeDirectory("layer");
    dir_.MakeDirectory("outside");
    dir_.WriteFile("outside/secret", "secret");
    (void)::chmod((dir_ / "outside/secret").c_str(), 0640);
  }

  Result<UnpackedLayer> Unpack(const std::string& blob, const Limits& limits = {},
                               const ExpectedLayer& expected = {}) {
    const auto fd = sys::Open(dir_ / "layer", O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(fd);
    return UnpackLayer({.fd = -1, .bytes = blob, .name = "test"}, expected, limits, fd->Get());
  }

  LayerFacts Facts(const TarBuilder& tar) {
    const auto layer = Unpack(tar.Finish());
    EXPECT_TRUE(layer) << layer.error().Message();
    return layer ? layer->facts : LayerFacts{};
  }

  std::string WhyNot(const TarBuilder& tar, const Limits& limits = {}) {
    const auto layer = Unpack(tar.Finish(), limits);
    return layer ? "" : layer.error().Message();
  }

  std::string In(const std::string& path) const { return dir_ / ("layer/rootfs/" + path); }

  struct stat Status(const std::string& path) const {
    struct stat status = {};
    EXPECT_EQ(::lstat(In(path).c_str(), &status), 0) << path;
    return status;
  }
  bool Exists(const std::string& path) const {
    struct stat status = {};
    return ::lstat(In(path).c_str(), &status) == 0;
  }

  // The property of every hostile case.
  void ExpectOutsideUntouched() const {
    EXPECT_EQ(ReadWholeFile(dir_ / "outside/secret"), "secret");
    struct stat status = {};
    ASSERT_EQ(::stat((dir_ / "outside/secret").c_str(), &status), 0);
    EXPECT_EQ(status.st_nlink, 1U);
    EXPECT_EQ(status.st_mode & 07777U, 0640U);
    std::size_t entries = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_ / "outside")) {
      (void)entry;
      ++entries;
    }
    EXPECT_EQ(entries, 1U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.Path()), {}), 2);
  }

  TempDir dir_;
};

}  // namespace plimsoll::image
