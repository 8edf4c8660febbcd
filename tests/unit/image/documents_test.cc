// The store's own small files: written, read back, and refused when they are not ours.
#include <gtest/gtest.h>

#include "image/entry_path.h"
#include "image/layer_facts.h"
#include "image/record.h"
#include "image/tree.h"

namespace plimsoll::image {
namespace {

TEST(LayerFacts, AreReadBackWithAnyBytesInNames) {
  LayerFacts facts;
  facts.entries = 3;
  facts.whiteouts = {"a%b", "caf\xe9", "caf\xc3\xa9", std::string("\x01\x7f", 2)};
  facts.opaque = {""};
  facts.links = {{"new\xff", "old"}};
  const auto again = ParseLayerFacts(FormatLayerFacts(facts), "layer.json");
  ASSERT_TRUE(again) << again.error().Message();
  EXPECT_EQ(again->entries, 3U);
  EXPECT_EQ(again->whiteouts, facts.whiteouts);
  EXPECT_EQ(again->opaque, facts.opaque);
  EXPECT_EQ(again->links, facts.links);
}

TEST(LayerFacts, RefuseUnknownAndMissingMembers) {
  std::string text = FormatLayerFacts({});
  EXPECT_FALSE(ParseLayerFacts("{}", "layer.json"));
  text.insert(1, "\"more\":1,");
  EXPECT_FALSE(ParseLayerFacts(text, "layer.json"));
}

TEST(EncodePath, IsUndoneByDecodePath) {
  for (const std::string& path :
       {std::string("plain/path"), std::string("100%"), std::string("%41"), std::string("\xff\xfe"),
        std::string("\xc3\xa9"), std::string("\xc3\xa9\xff")}) {
    EXPECT_EQ(DecodePath(EncodePath(path)), path);
  }
  EXPECT_EQ(EncodePath("caf\xc3\xa9"), "caf\xc3\xa9") << "readable when it can be";
}

TEST(ImageRecord, IsReadBack) {
  ImageRecord record;
  record.name = "a:1";
  record.manifest.bytes[0] = 1;
  record.index = oci::Digest{};
  record.layers = {{.digest = {}, .size = 7, .diff_id = {}}};
  record.size = 9;
  record.imported = 1700000000;
  record.source = "oci:x";
  record.config.env = {{"A", "b"}};
  record.config.diff_ids = {oci::Digest{}};
  const auto again = ParseRecord(FormatRecord(record), "record");
  ASSERT_TRUE(again) << again.error().Message();
  EXPECT_EQ(FormatRecord(*again), FormatRecord(record));
  EXPECT_EQ(again->Environment(), "oci-image:" + oci::Digest{}.ToString());
  record.index.reset();
  EXPECT_EQ(record.Environment(), "oci-image:" + record.manifest.ToString());
}

TEST(ChainId, FollowsTheSpecification) {
  const oci::Digest a = *oci::ParseDigest("sha256:" + std::string(64, 'a'));
  const oci::Digest b = *oci::ParseDigest("sha256:" + std::string(64, 'b'));
  EXPECT_EQ(ChainId({a}), a);
  // printf 'sha256:aa... sha256:bb...' | sha256sum
  EXPECT_EQ(ChainId({a, b}).Hex(),
            "ccd722928bd92476ba1745586fed6e45a102504185ad88cd89e01ff116fd146c");
}

TEST(CleanEntryPath, BringsNamesIntoOneForm) {
  EXPECT_EQ(*CleanEntryPath("./a//b/./c/", {}), "a/b/c");
  EXPECT_EQ(*CleanEntryPath("/abs", {}), "abs");
  EXPECT_EQ(*CleanEntryPath("./", {}), "");
  EXPECT_EQ(*CleanEntryPath("..a/b..", {}), "..a/b..");
  EXPECT_FALSE(CleanEntryPath("a/../b", {}));
  EXPECT_FALSE(CleanEntryPath(std::string_view("a\0b", 3), {}));
}

TEST(StoreVersion, OnlyKnownFormatsAreRead) {
  EXPECT_TRUE(CheckStoreVersion("1\n"));
  EXPECT_EQ(CheckStoreVersion("2\n").error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(CheckStoreVersion("").error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(CheckStoreVersion("x").error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(CheckStoreVersion("0").error().kind, ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace plimsoll::image
