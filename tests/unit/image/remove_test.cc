// Removing images: names, shared data, and images in use.
#include "image/remove.h"

#include <gtest/gtest.h>

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
  EXPECT_GT(removed->freed, 0U);
  ExpectEmptyStore();
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
