#include "base/units.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

using std::chrono_literals::operator""ms;

TEST(ParseBytes, TakesUnitsAsPowersOfTwo) {
  EXPECT_EQ(*ParseBytes("0"), 0U);
  EXPECT_EQ(*ParseBytes("512"), 512U);
  EXPECT_EQ(*ParseBytes("512B"), 512U);
  for (const char* text : {"3K", "3k", "3KiB"})
    EXPECT_EQ(*ParseBytes(text), 3U << 10U) << text;
  for (const char* text : {"3M", "3m", "3MiB"})
    EXPECT_EQ(*ParseBytes(text), 3U << 20U) << text;
  for (const char* text : {"3G", "3g", "3GiB"})
    EXPECT_EQ(*ParseBytes(text), 3ULL << 30U) << text;
  for (const char* text : {"3T", "3t", "3TiB"})
    EXPECT_EQ(*ParseBytes(text), 3ULL << 40U) << text;
}

TEST(ParseBytes, RefusesWhatIsNoNumberOfBytes) {
  for (const char* text : {"", "M", "-1", "1.5M", "1 M", "1KB", "12 potatoes", "0x10",
                           "99999999999999999999", "9999999T"}) {
    const auto bytes = ParseBytes(text);
    ASSERT_FALSE(bytes.has_value()) << text;
    EXPECT_EQ(bytes.error().kind, ErrorKind::kRequest) << text;
  }
  EXPECT_EQ(ParseBytes("12 potatoes").error().what,
            "'12 potatoes': expected a number of bytes with K, M, G or T, such as '512M'");
}

TEST(FormatBytes, UsesTheLargestUnitThatIsExact) {
  EXPECT_EQ(FormatBytes(0), "0 bytes");
  EXPECT_EQ(FormatBytes(1023), "1023 bytes");
  EXPECT_EQ(FormatBytes(1024), "1 KiB");
  EXPECT_EQ(FormatBytes(1536), "1536 bytes");
  EXPECT_EQ(FormatBytes(512ULL << 20U), "512 MiB");
  EXPECT_EQ(FormatBytes(3ULL << 50U), "3072 TiB");
}

TEST(ParseDuration, TakesABareNumberAsSeconds) {
  EXPECT_EQ(*ParseDuration("30"), 30'000ms);
  EXPECT_EQ(*ParseDuration("0"), 0ms);
}

TEST(ParseDuration, TakesUnitsAndFractions) {
  EXPECT_EQ(*ParseDuration("250ms"), 250ms);
  EXPECT_EQ(*ParseDuration("1.5s"), 1500ms);
  EXPECT_EQ(*ParseDuration("2m"), 120'000ms);
  EXPECT_EQ(*ParseDuration("1h"), 3'600'000ms);
  EXPECT_EQ(*ParseDuration("1d"), 86'400'000ms);
}

TEST(ParseDuration, RoundsUpSoThatALimitIsNeverZeroByAccident) {
  EXPECT_EQ(*ParseDuration("0.0001"), 1ms);
}

TEST(ParseDuration, RefusesWhatIsNoDuration) {
  for (const char* text :
       {"", "s", "-1", "+1", "1e3", "1 s", "nan", "inf", "1w", "1.2.3", "366d", "0x1"}) {
    EXPECT_FALSE(ParseDuration(text).has_value()) << text;
  }
}

TEST(FormatDuration, ShowsMillisecondsBelowASecond) {
  EXPECT_EQ(FormatDuration(0ms), "0 ms");
  EXPECT_EQ(FormatDuration(999ms), "999 ms");
  EXPECT_EQ(FormatDuration(1000ms), "1 s");
  EXPECT_EQ(FormatDuration(1050ms), "1.05 s");
  EXPECT_EQ(FormatDuration(61'500ms), "61.5 s");
}

}  // namespace
}  // namespace plimsoll
