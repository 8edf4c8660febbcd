// What the tests of a whole store share: a store, a place for sources, and a small image.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "image/import.h"
#include "image/rootfs.h"
#include "image/store.h"
#include "support/tar_builder.h"
#include "support/temp_dir.h"

namespace plimsoll::image {

class StoreTest : public ::testing::Test {
 protected:
  std::string StorePath() const { return dir_ / "store"; }
  Store OpenStore() const {
    auto store = Store::Open(StorePath());
    EXPECT_TRUE(store) << store.error().Message();
    return *std::move(store);
  }

  // An image whose one layer has the file etc/word with `word` in it.
  static testing_support::BuiltImage SmallImage(const std::string& word) {
    const std::string tar = testing_support::TarBuilder()
                                .Directory("etc")
                                .File("etc/word", word)
                                .File("bin/tool", "tool", {.mode = 0755})
                                .Finish();
    return testing_support::BuildImage(
        {.layers = {testing_support::Gzip(tar)}, .layer_tars = {tar}});
  }

  std::string WriteLayout(const std::string& name, const testing_support::Files& files) const {
    testing_support::WriteFiles(dir_ / name, files);
    return dir_ / name;
  }

  Result<std::vector<ImageRecord>> Import(const std::string& path, const std::string& name = {},
                                          const Selection& selection = {}) {
    ImportRequest request = {
        .source = path, .path = path, .selection = selection, .name = {}, .unnamed = false};
    if (!name.empty()) request.name = *oci::ParseStoreName(name);
    const Store store = OpenStore();
    PLIMSOLL_TRY_ASSIGN(Imported imported, ImportImages(store, request));
    return std::move(imported.records);
  }

  // The error of an import that must fail; "" when it did not.
  std::string WhyNotImported(const std::string& path, const Selection& selection = {}) {
    const auto records = Import(path, {}, selection);
    return records ? "" : records.error().Message();
  }

  // etc/word in the tree of `reference`, or why there is none.
  std::string Word(const std::string& reference) {
    const auto rootfs = PrepareRootfs(StorePath(), reference);
    if (!rootfs) return rootfs.error().Message();
    return testing_support::ReadWholeFile(rootfs->tree_path + "/etc/word");
  }

  std::size_t CountIn(const std::string& folder) const {
    const std::string path = StorePath() + "/" + folder;
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }

  // Nothing but the folders of an empty store, whatever was tried.
  void ExpectEmptyStore() const {
    for (const char* folder : {"blobs/sha256", "layers", "trees", "images", "tmp"}) {
      EXPECT_EQ(CountIn(folder), 0U) << folder;
    }
  }

  testing_support::TempDir dir_;
};

}  // namespace plimsoll::image
