// Verification finds every kind of change, and names the file.
#include "image/verify.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "unit/image/store_fixture.h"

namespace plimsoll::image {
namespace {

using testing_support::BuiltImage;
using testing_support::LayoutFiles;

class VerifyImagesTest : public StoreTest {
 protected:
  void SetUp() override {
    image_ = SmallImage("word");
    ASSERT_TRUE(Import(WriteLayout("l", LayoutFiles(image_, "")), "a:1"));
    layer_ = std::filesystem::directory_iterator(StorePath() + "/layers")->path().string();
    tree_ = std::filesystem::directory_iterator(StorePath() + "/trees")->path().string();
  }

  std::vector<std::string> Problems() {
    const Store store = OpenStore();
    const auto verification = VerifyImages(store, *oci::ParseStoreName("a:1"));
    EXPECT_TRUE(verification) << verification.error().Message();
    EXPECT_EQ(CountIn("tmp"), 0U);
    std::vector<std::string> problems;
    for (const std::string& problem : verification->problems) {
      problems.push_back(problem.substr(0, 6) + problem.substr(problem.find(": '") + 1));
    }
    return problems;
  }

  BuiltImage image_;
  std::string layer_;
  std::string tree_;
};

TEST_F(VerifyImagesTest, AnUntouchedStoreIsGood) {
  ASSERT_TRUE(PrepareRootfs(StorePath(), ""));
  const Store store = OpenStore();
  const auto verification = VerifyImages(store, {});
  ASSERT_TRUE(verification) << verification.error().Message();
  EXPECT_EQ(verification->problems, std::vector<std::string>{});
  EXPECT_EQ(verification->images, (std::vector<std::string>{"a:1", "the embedded image"}));
  EXPECT_EQ(verification->layers, 2U);
  EXPECT_EQ(verification->trees, 2U);
}

TEST_F(VerifyImagesTest, AManifestIsCountedOnceWhateverItIsCalled) {
  ASSERT_TRUE(Import(dir_ / "l", "b:1"));
  const std::string other = WriteLayout("other", LayoutFiles(SmallImage("other"), ""));
  ASSERT_TRUE(PrepareRootfs(StorePath(), "oci:" + other));
  const Store store = OpenStore();
  const auto verification = VerifyImages(store, {});
  ASSERT_TRUE(verification) << verification.error().Message();
  ASSERT_EQ(verification->images.size(), 2U);
  EXPECT_EQ(verification->images[0], "a:1");
  EXPECT_TRUE(verification->images[1].starts_with("@sha256:")) << verification->images[1];
  EXPECT_EQ(verification->blobs, 6U) << "manifest, configuration and layer of each";
}

TEST_F(VerifyImagesTest, AChangedFileIsNamed) {
  std::ofstream(layer_ + "/rootfs/etc/word") << "WORD";
  EXPECT_EQ(Problems(), std::vector<std::string>{"layer  'etc/word' has other content"});
}

TEST_F(VerifyImagesTest, OtherChangesAreNamed) {
  ASSERT_EQ(::chmod((layer_ + "/rootfs/bin/tool").c_str(), 0700), 0);
  std::ofstream(layer_ + "/rootfs/etc/more") << "x";
  std::filesystem::remove(layer_ + "/rootfs/etc/word");
  EXPECT_EQ(Problems(),
            (std::vector<std::string>{
                "layer  'bin/tool' has other permissions", "layer  'etc/more' should not be there",
                "layer  'etc/word' is missing", "tree s 'etc/word' should not be there",
                "tree s 'etc/more' is missing"}));
}

TEST_F(VerifyImagesTest, AChangeOfTheTreeAloneIsNamed) {
  std::filesystem::remove(tree_ + "/rootfs/bin/tool");
  std::filesystem::create_symlink("/bin/sh", tree_ + "/rootfs/bin/tool");
  std::ofstream(tree_ + "/rootfs/etc/hosts") << "6.6.6.6 localhost";
  EXPECT_EQ(Problems(), (std::vector<std::string>{"tree s 'bin/tool' is of another type",
                                                  "tree s 'etc/hosts' has another size"}));
}

TEST_F(VerifyImagesTest, WhatCannotBeComparedIsADifference) {
  std::ofstream(layer_ + "/layer.json") << "{";
  std::filesystem::remove(tree_ + "/rootfs/bin/tool");
  ASSERT_EQ(Problems().size(), 2U);
  EXPECT_NE(Problems()[0].find("layer.json"), std::string::npos) << Problems()[0];
  EXPECT_NE(Problems()[1].find("is missing or damaged"), std::string::npos) << Problems()[1];
  std::filesystem::remove_all(layer_);
  ASSERT_EQ(Problems().size(), 1U);
  EXPECT_NE(Problems()[0].find("is missing or damaged"), std::string::npos) << Problems()[0];
}

TEST_F(VerifyImagesTest, ATreeWithoutARootIsADifference) {
  std::filesystem::rename(tree_ + "/rootfs", tree_ + "/elsewhere");
  ASSERT_EQ(Problems().size(), 1U);
  EXPECT_NE(Problems()[0].find("rootfs is missing, or is no directory"), std::string::npos);
  std::filesystem::create_symlink("/etc", tree_ + "/rootfs");
  ASSERT_EQ(Problems().size(), 1U);
  EXPECT_NE(Problems()[0].find("rootfs is missing, or is no directory"), std::string::npos);
}

TEST_F(VerifyImagesTest, AChangedOrMissingBlobIsNamed) {
  for (const auto& [hex, bytes] : image_.blobs) {
    const std::string path = StorePath() + "/blobs/sha256/" + hex;
    std::string changed = bytes;
    changed[changed.size() / 2] ^= 1;
    std::ofstream(path) << changed;
    const Store store = OpenStore();
    auto verification = VerifyImages(store, {});
    ASSERT_TRUE(verification);
    ASSERT_EQ(verification->problems.size(), 1U);
    EXPECT_NE(verification->problems[0].find("has the digest"), std::string::npos);
    std::filesystem::remove(path);
    verification = VerifyImages(store, {});
    ASSERT_TRUE(verification);
    EXPECT_EQ(verification->problems,
              std::vector<std::string>{"blob sha256:" + hex + ": is missing"});
    std::ofstream(path) << bytes;
  }
}

}  // namespace
}  // namespace plimsoll::image
