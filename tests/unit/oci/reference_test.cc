// References as people write them.
#include "oci/reference.h"

#include <gtest/gtest.h>

namespace plimsoll::oci {
namespace {

const std::string kDigest =
    "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

struct Case {
  const char* name;
  std::string text;
  std::string full;  // as ToString gives it; empty: refused
};

class ParseReferenceTest : public ::testing::TestWithParam<Case> {};

TEST_P(ParseReferenceTest, GivesTheFullFormOrRefuses) {
  const auto reference = ParseReference(GetParam().text);
  EXPECT_EQ(reference ? reference->ToString() : "", GetParam().full);
  if (!reference) {
    EXPECT_EQ(reference.error().kind, ErrorKind::kRequest);
    return;
  }
  const auto again = ParseReference(reference->ToString());
  ASSERT_TRUE(again) << again.error().Message();
  EXPECT_EQ(*again, *reference);
}

INSTANTIATE_TEST_SUITE_P(
    Reference, ParseReferenceTest,
    ::testing::Values(
        Case{"Name", "python", "python:latest"},
        Case{"Tag", "python:3.12-slim", "python:3.12-slim"},
        Case{"Pin", "python@" + kDigest, "python@" + kDigest},
        Case{"TagBesidePin", "python:3@" + kDigest, "python@" + kDigest},
        Case{"PinAlone", "@" + kDigest, "@" + kDigest}, Case{"DigestAlone", kDigest, "@" + kDigest},
        Case{"NotQuiteADigest", "sha256:12", "sha256:12"},
        Case{"Registry", "ghcr.io/a/b_c:1", "ghcr.io/a/b_c:1"},
        Case{"Port", "localhost:5000/a", "localhost:5000/a:latest"},
        Case{"Separators", "a.b__c--d/e", "a.b__c--d/e:latest"},
        Case{"Layout", "oci:dir", "oci:dir"}, Case{"LayoutTag", "oci:/a/b:1.0", "oci:/a/b:1.0"},
        Case{"LayoutColonInFolder", "oci:/a:b/c", "oci:/a:b/c"},
        Case{"LayoutPin", "oci:dir@" + kDigest, "oci:dir@" + kDigest},
        Case{"OciArchive", "oci-archive:a.tar:b", "oci-archive:a.tar:b"},
        Case{"DockerArchive", "docker-archive:/x/y.tar.gz", "docker-archive:/x/y.tar.gz"},
        Case{"Empty", "", ""}, Case{"UpperCase", "Python", ""}, Case{"Space", "a b", ""},
        Case{"DoubleSlash", "a//b", ""}, Case{"SlashAtEnd", "a/", ""}, Case{"Up", "../a", ""},
        Case{"DotAtEnd", "a.", ""}, Case{"ThreeUnderscores", "a___b", ""},
        Case{"EmptyTag", "a:", ""}, Case{"BadTag", "a:-x", ""},
        Case{"TagOf129", "a:" + std::string(129, 't'), ""},
        Case{"NameOf101", std::string(101, 'n'), ""}, Case{"ShortPin", "a@sha256:12", ""},
        Case{"TagAlone", ":tag", ""}, Case{"NoPath", "oci:", ""}, Case{"OnlyTag", "oci::tag", ""},
        Case{"Plus", "a+b", ""}, Case{"NulInPath", std::string("oci:a\0b", 7), ""}),
    [](const auto& one) { return one.param.name; });

TEST(ParseStoreName, DoesNotKnowPaths) {
  EXPECT_FALSE(ParseStoreName("oci:/a/b"));
  for (const char* name : {"oci", "oci:tag", "oci-archive", "docker-archive:1"}) {
    EXPECT_FALSE(ParseStoreName(name)) << name << " would be read as a path";
  }
  EXPECT_TRUE(ParseStoreName("oci/tool"));
}

TEST(ParseReference, SaysWhatIsExpected) {
  const auto reference = ParseReference("My Image");
  ASSERT_FALSE(reference);
  EXPECT_EQ(reference.error().what,
            "image 'My Image': 'My Image' is no image name (lower-case letters, digits and "
            "separators, at most 100 bytes)");
  EXPECT_NE(reference.error().hint.find("oci:DIR[:TAG]"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::oci
