// Decompression in small steps gives what decompression at once gives.
#include "image/inflate.h"

#include <gtest/gtest.h>

#include "support/tar_builder.h"

namespace plimsoll::image {
namespace {

using testing_support::Gzip;
using testing_support::Zstd;

// All of `blob`, with `input` bytes offered and `output` bytes of room at a time.
Result<std::string> InflateAll(std::string_view blob, std::size_t input, std::size_t output) {
  PLIMSOLL_TRY_ASSIGN(const auto inflater, Inflater::Make(DetectCompression(blob)));
  std::string all;
  std::string room(output, '\0');
  while (!blob.empty()) {
    std::string_view piece = blob.substr(0, input);
    blob.remove_prefix(piece.size());
    for (;;) {
      PLIMSOLL_TRY_ASSIGN(const std::size_t count, inflater->Step(piece, room.data(), room.size()));
      all.append(room, 0, count);
      if (piece.empty() && count < room.size()) break;
    }
  }
  PLIMSOLL_TRY(inflater->Finish());
  return all;
}

std::string Sample() {
  std::string text;
  for (int at = 0; at < 20000; ++at)
    text += std::to_string(at * at) + " ";
  return text;
}

TEST(Inflater, GivesTheSameWhateverTheSteps) {
  const std::string text = Sample();
  for (const std::string& blob : {text, Gzip(text), Zstd(text)}) {
    for (const std::size_t input :
         {std::size_t{1}, std::size_t{7}, std::size_t{4096}, blob.size()}) {
      for (const std::size_t output : {std::size_t{1}, std::size_t{1000}, text.size()}) {
        const auto all = InflateAll(blob, input, output);
        ASSERT_TRUE(all) << all.error().Message();
        ASSERT_EQ(*all, text) << input << " " << output;
      }
    }
  }
}

TEST(Inflater, ReadsMembersAndFramesInARow) {
  const std::string text = Sample();
  EXPECT_EQ(*InflateAll(Gzip(text) + Gzip("") + Gzip("end"), 100, 100), text + "end");
  EXPECT_EQ(*InflateAll(Zstd(text) + Zstd("end"), 100, 100), text + "end");
  const std::string skippable("\x50\x2a\x4d\x18\x02\x00\x00\x00zz", 10);
  EXPECT_EQ(*InflateAll(skippable + Zstd(text), 100, 100), text);
}

TEST(Inflater, RefusesStreamsThatStopOrGoOnWrongly) {
  for (const std::string& blob : {Gzip(Sample()), Zstd(Sample())}) {
    EXPECT_FALSE(InflateAll(blob.substr(0, blob.size() - 1), 100, 100));
    EXPECT_FALSE(InflateAll(blob.substr(0, 9), 100, 100));
    EXPECT_FALSE(InflateAll(blob + "garbage behind", 100, 100));
  }
}

TEST(Inflater, RefusesAZstdWindowAboveTheLimit) {
  // A frame header that asks for a window of 2^31 bytes, and one raw block.
  const std::string frame("\x28\xb5\x2f\xfd\x00\xa8\x09\x00\x00x", 10);
  const auto all = InflateAll(frame, 100, 100);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().kind, ErrorKind::kProtocol);
}

TEST(DetectCompression, GoesByTheFirstBytes) {
  EXPECT_EQ(DetectCompression(Gzip("x")), Compression::kGzip);
  EXPECT_EQ(DetectCompression(Zstd("x")), Compression::kZstd);
  EXPECT_EQ(DetectCompression("plain"), Compression::kNone);
  EXPECT_EQ(DetectCompression(""), Compression::kNone);
  EXPECT_EQ(DetectCompression("\x1f"), Compression::kNone);
}

}  // namespace
}  // namespace plimsoll::image
