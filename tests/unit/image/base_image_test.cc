// The embedded image: the same bytes from every build, and exactly what its documents say.
#include "image/base_image.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "image/blob_stream.h"
#include "json/writer.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace plimsoll::image {
namespace {

using testing_support::ReadWholeFile;
using testing_support::TempDir;

TEST(EmbeddedImage, IsWhatItsDigestsSay) {
  const auto base = EmbeddedImage();
  ASSERT_TRUE(base) << base.error().Message();
  const auto ignore = [](const BlockSource&) -> Result<void> { return {}; };
  const auto facts = ReadBlob({.fd = -1, .bytes = base->blob, .name = "base"}, UINT64_MAX, ignore);
  ASSERT_TRUE(facts) << facts.error().Message();
  EXPECT_EQ(facts->digest, base->layer);
  EXPECT_EQ(facts->content, base->diff_id);
  EXPECT_EQ(base->config.diff_ids, std::vector<oci::Digest>{base->diff_id});
}

TEST(EmbeddedImage, HasTheConfigurationThatItsDocumentSays) {
  const auto base = EmbeddedImage();
  const auto parsed = oci::ParseImageConfig(std::string(EmbeddedConfig()), "embedded");
  ASSERT_TRUE(base && parsed);
  const auto text = [](const oci::ImageConfig& config) {
    json::Writer writer;
    oci::WriteImageConfig(writer, config);
    return writer.Take();
  };
  EXPECT_EQ(text(base->config), text(*parsed));
}

TEST(PackBase, GivesTheSameBytesTwice) {
  const TempDir dir;
  for (const char* output : {"one", "two"}) {
    const auto outcome = testing_support::RunCommand(
        {.arguments = {PLIMSOLL_SOURCE_DIR "/images/base/pack", "/bin/busybox", dir / output},
         .environment = {"PATH=/usr/local/bin:/usr/bin:/bin"}});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  EXPECT_EQ(ReadWholeFile(dir / "one/layer.tar.gz"), ReadWholeFile(dir / "two/layer.tar.gz"));
  EXPECT_EQ(ReadWholeFile(dir / "one/base_image_data.h"),
            ReadWholeFile(dir / "two/base_image_data.h"));
}

TEST(PackBase, RefusesAProgramThatNeedsALoader) {
  const TempDir dir;
  const auto outcome = testing_support::RunCommand(
      {.arguments = {PLIMSOLL_SOURCE_DIR "/images/base/pack", "/bin/ls", dir / "out"},
       .environment = {"PATH=/usr/local/bin:/usr/bin:/bin"}});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err,
            "images/base/pack: /bin/ls is not static; on Debian install busybox-static\n");
}

}  // namespace
}  // namespace plimsoll::image
