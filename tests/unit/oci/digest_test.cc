// Digests: one spelling, read and written.
#include "oci/digest.h"

#include <gtest/gtest.h>

namespace plimsoll::oci {
namespace {

const std::string kHex = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

TEST(ParseDigest, ReadsWhatItWrites) {
  const auto digest = ParseDigest("sha256:" + kHex);
  ASSERT_TRUE(digest);
  EXPECT_EQ(digest->bytes[1], 0x23);
  EXPECT_EQ(digest->Hex(), kHex);
  EXPECT_EQ(digest->ToString(), "sha256:" + kHex);
}

TEST(ParseDigest, RejectsWrongLengthAndNamesIt) {
  const auto digest = ParseDigest("sha256:ab12");
  ASSERT_FALSE(digest);
  EXPECT_EQ(digest.error().what,
            "digest 'sha256:ab12' needs 64 lower-case hexadecimal digits, has 4 characters");
}

TEST(ParseDigest, RejectsOtherDigits) {
  for (const char bad : {'A', 'g', ' ', '\0', '/'}) {
    std::string hex = kHex;
    hex[63] = bad;
    EXPECT_FALSE(ParseDigest("sha256:" + hex)) << bad;
  }
}

TEST(ParseDigest, OtherAlgorithmsAreUnsupported) {
  EXPECT_EQ(ParseDigest("sha512:" + kHex + kHex).error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(ParseDigest("md5:" + kHex).error().kind, ErrorKind::kRequest);
  EXPECT_EQ(ParseDigest(kHex).error().kind, ErrorKind::kRequest);
  EXPECT_EQ(ParseDigest("").error().kind, ErrorKind::kRequest);
}

}  // namespace
}  // namespace plimsoll::oci
