// Removing images: names, shared data, and images in use.
#include "image/remove.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "image/record.h"
#include "unit/image/store_fixture.h"

namespace plimsoll::image {
namespace {

using testing_support::BuildImage;
using testing_support::BuiltImage;
using testing_support::LayoutFiles;
using testing_support::TarBuilder;

class RemoveImageTest : public StoreTest {
 protected:
  Result<Removed> Remove(const std::string& name) {
    const Store store = OpenStore();
    return RemoveImage(store, *oci::ParseStoreName(name));
  }
  // What the data of the store takes on disk; a file counts once, whatever names it has.
  std::uint64_t Occupied() const {
    std::map<ino_t, std::uint64_t> files;
    for (const char* folder : {"blobs/sha256", "layers", "trees"}) {
      const std::string path = StorePath() + "/" + folder;
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        struct stat status = {};
        EXPECT_EQ(::lstat(entry.path().c_str(), &status), 0) << entry.path();
        files[status.st_ino] = static_cast<std::uint64_t>(status.st_blocks) * 512;
      }
    }
    std::uint64_t bytes = 0;
    for (const auto& [inode, occupied] : files)
      bytes += occupied;
    return bytes;
  }
  std::vector<std::string> Names() {
    const Store store = OpenStore();
    std::vector<std::string> names;
    for (const ImageRecord& record : *ListRecords(store))
      names.push_back(record.name);
    return names;
  }
};

TEST_F(RemoveImageTest, TakesEverythingOfTheLastName) {
  const BuiltImage image = SmallImage("x");
  ASSERT_TRUE(Import(WriteLayout("l", LayoutFiles(image, "")), "a:1"));
  const auto removed = Remove("a:1");
  ASSERT_TRUE(removed) << removed.error().Message();
  EXPECT_EQ(removed->names, (std::vector<std::string>{"a:1", "a@" + image.manifest_digest}));
  ExpectEmptyStore();
}

TEST_F(RemoveImageTest, SaysWhatTheFileSystemHasBack) {
  const std::string base = TarBuilder().File("etc/word", std::string(100'000, 'b')).Finish();
  const std::string top = TarBuilder().File("x", std::string(50'000, 'x')).Finish();
  ASSERT_TRUE(Import(WriteLayout("1", LayoutFiles(BuildImage({.layers = {base}}), "")), "one:1"));
  ASSERT_TRUE(
      Import(WriteLayout("2", LayoutFiles(BuildImage({.layers = {base, top}}), "")), "two:1"));
  const std::uint64_t before = Occupied();
  const auto removed = Remove("two:1");
  ASSERT_TRUE(removed) << removed.error().Message();
  EXPECT_EQ(removed->freed.Total(), before - Occupied());
  EXPECT_GE(removed->freed.blobs, 50'000U);
  EXPECT_GE(removed->freed.layers, 50'000U);
  EXPECT_LT(removed->freed.layers, 100'000U) << "the base is still there";
  const std::uint64_t rest = Occupied();
  const auto last = Remove("one:1");
  ASSERT_TRUE(last) << last.error().Message();
  EXPECT_EQ(last->freed.Total(), rest - Occupied());
  EXPECT_GE(last->freed.layers, 100'000U);
}

TEST_F(RemoveImageTest, WhatARunByPathKeptGoesByItsDigest) {
  const BuiltImage image = SmallImage("x");
  const std::string layout = WriteLayout("l", LayoutFiles(image, ""));
  for (const char* prefix : {"", "@"}) {
    ASSERT_TRUE(PrepareRootfs(StorePath(), "oci:" + layout));
    EXPECT_EQ(Names(), std::vector<std::string>{"@" + image.manifest_digest});
    const auto removed = Remove(prefix + image.manifest_digest);
    ASSERT_TRUE(removed) << removed.error().Message();
    EXPECT_GT(removed->freed.Total(), 0U);
    ExpectEmptyStore();
  }
}

TEST_F(RemoveImageTest, WhatARunByPathKeptGoesWithTheLastName) {
  const BuiltImage image = SmallImage("x");
  const std::string layout = WriteLayout("l", LayoutFiles(image, ""));
  ASSERT_TRUE(PrepareRootfs(StorePath(), "oci:" + layout));
  ASSERT_TRUE(Import(layout, "a:1"));
  ASSERT_TRUE(Import(layout, "b:1"));
  const auto first = Remove("a:1");
  ASSERT_TRUE(first) << first.error().Message();
  EXPECT_EQ(first->freed.Total(), 0U) << "b:1 is the same image";
  ASSERT_TRUE(Remove("b:1"));
  ExpectEmptyStore();
}

TEST_F(RemoveImageTest, ADigestAloneTakesTheImageUnderEveryName) {
  const BuiltImage image = SmallImage("x");
  const std::string layout = WriteLayout("l", LayoutFiles(image, ""));
  ASSERT_TRUE(Import(layout, "a:1"));
  ASSERT_TRUE(Import(layout, "b:1"));
  ASSERT_TRUE(Import(WriteLayout("other", LayoutFiles(SmallImage("other"), "")), "c:1"));
  const auto removed = Remove(image.manifest_digest);
  ASSERT_TRUE(removed) << removed.error().Message();
  EXPECT_EQ(removed->names, (std::vector<std::string>{"a:1", "a@" + image.manifest_digest, "b:1",
                                                      "b@" + image.manifest_digest}));
  EXPECT_EQ(Word("c:1"), "other");
}

TEST_F(RemoveImageTest, KeepsWhatOthersNeed) {
  const std::string base = TarBuilder().File("etc/word", "base").Finish();
  const BuiltImage one = BuildImage({.layers = {base}});
  const BuiltImage two = BuildImage({.layers = {base, TarBuilder().File("x", "x").Finish()}});
  ASSERT_TRUE(Import(WriteLayout("1", LayoutFiles(one, "")), "one:1"));
  ASSERT_TRUE(Import(WriteLayout("2", LayoutFiles(two, "")), "two:1"));
  ASSERT_TRUE(Remove("two:1"));
  EXPECT_EQ(CountIn("layers"), 1U);
  EXPECT_EQ(CountIn("trees"), 1U);
  EXPECT_EQ(Word("one:1"), "base");
}

TEST_F(RemoveImageTest, ATagLeavesThePinsOfAnotherTag) {
  const BuiltImage image = SmallImage("x");
  const std::string layout = WriteLayout("l", LayoutFiles(image, ""));
  ASSERT_TRUE(Import(layout, "a:1"));
  ASSERT_TRUE(Import(layout, "a:2"));
  ASSERT_TRUE(Remove("a:1"));
  EXPECT_EQ(Names(), (std::vector<std::string>{"a:2", "a@" + image.manifest_digest}));
  EXPECT_EQ(Word("a:2"), "x");
}

TEST_F(RemoveImageTest, APinTakesItsTags) {
  const BuiltImage image = SmallImage("x");
  const std::string layout = WriteLayout("l", LayoutFiles(image, ""));
  ASSERT_TRUE(Import(layout, "a:1"));
  ASSERT_TRUE(Import(layout, "b:1"));
  ASSERT_TRUE(Remove("a@" + image.manifest_digest));
  EXPECT_EQ(Names(), (std::vector<std::string>{"b:1", "b@" + image.manifest_digest}));
}

TEST_F(RemoveImageTest, AnOldPinOutlivesItsTag) {
  const BuiltImage old_image = SmallImage("old");
  ASSERT_TRUE(Import(WriteLayout("1", LayoutFiles(old_image, "")), "a:1"));
  ASSERT_TRUE(Import(WriteLayout("2", LayoutFiles(SmallImage("new"), "")), "a:1"));
  EXPECT_EQ(Word("a:1"), "new");
  EXPECT_EQ(Word("a@" + old_image.manifest_digest), "old");
  ASSERT_TRUE(Remove("a:1"));
  EXPECT_EQ(Names(), std::vector<std::string>{"a@" + old_image.manifest_digest});
}

TEST_F(RemoveImageTest, AnImageInUseIsReportedAndStays) {
  ASSERT_TRUE(Import(WriteLayout("l", LayoutFiles(SmallImage("x"), "")), "a:1"));
  {
    const auto run = PrepareRootfs(StorePath(), "a:1");
    ASSERT_TRUE(run);
    const auto removed = Remove("a:1");
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().what, "image 'a:1' is in use by a run");
    EXPECT_EQ(Word("a:1"), "x");
  }
  EXPECT_TRUE(Remove("a:1"));
}

TEST_F(RemoveImageTest, TheEmbeddedImageStays) {
  ASSERT_TRUE(PrepareRootfs(StorePath(), ""));
  ASSERT_TRUE(Import(WriteLayout("l", LayoutFiles(SmallImage("x"), "")), "a:1"));
  ASSERT_TRUE(Remove("a:1"));
  EXPECT_EQ(CountIn("trees"), 1U);
}

TEST_F(RemoveImageTest, AnUnknownNameIsAnError) {
  const auto removed = Remove("nobody:1");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().what, "the store has no image 'nobody:1'");
}

}  // namespace
}  // namespace plimsoll::image
