// What a statement has to be, one rule at a time.

#include "record/statement.h"

#include <gtest/gtest.h>

#include <string>

namespace plimsoll::record {
namespace {

Statement Good() {
  return {.record = {.request_sha256 = std::string(64, 'a'),
                     .result_sha256 = std::string(64, 'b'),
                     .provider = "native",
                     .isolation = "container",
                     .environment = "oci-image:sha256:cc",
                     .policy = "seccomp:sha256:dd",
                     .software_identity = "oci-manifest:linux/amd64@sha256:ee",
                     .software_rule_id = "",
                     .started_unix_ms = 1000,
                     .ended_unix_ms = 2000},
          .confinement = R"({"plan":"sha256:ff"})",
          .calls = R"({"grants":[]})",
          .link = LineLink{.index = 3,
                           .previous_line_sha256 = std::string(64, '1'),
                           .request_line_sha256 = std::string(64, '2'),
                           .response_line_sha256 = std::string(64, '3'),
                           .plan_line_sha256 = std::string(64, '4')}};
}

// The reason why the good statement with `from` replaced by `to` is refused.
std::string WhyNot(const std::string& from, const std::string& to) {
  std::string payload = WriteStatement(Good());
  const std::size_t at = payload.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  payload.replace(at, from.size(), to);
  const auto statement = ReadStatement(payload);
  return statement ? "" : statement.error().Message();
}

TEST(Statement, ReadsBackAsItWasWritten) {
  const auto read = ReadStatement(WriteStatement(Good()));
  ASSERT_TRUE(read) << read.error().Message();
  EXPECT_EQ(read->record, Good().record);
  EXPECT_EQ(read->confinement, Good().confinement);
  EXPECT_EQ(read->calls, Good().calls);
  EXPECT_EQ(read->link, Good().link);
}

TEST(Statement, OfAnotherVersionOrTypeIsRefused) {
  EXPECT_NE(WhyNot("\"version\":2", "\"version\":1").find("version 1 is not known"),
            std::string::npos);
  EXPECT_NE(WhyNot("\"version\":2", "\"version\":3").find("version 3"), std::string::npos);
  EXPECT_NE(WhyNot("Statement/v1", "Statement/v2").find("/_type"), std::string::npos);
  EXPECT_NE(WhyNot("run-record/v1", "run-record/v9").find("/predicateType"), std::string::npos);
}

TEST(Statement, OfASessionIsRefused) {
  EXPECT_NE(WhyNot("\"session\":\"\"", "\"session\":\"s\"").find("/session"), std::string::npos);
  EXPECT_NE(WhyNot("\"sequence\":0", "\"sequence\":1").find("session"), std::string::npos);
  EXPECT_NE(
      WhyNot("\"previous_sha256\":\"\"", "\"previous_sha256\":\"a\"").find("/previous_sha256"),
      std::string::npos);
}

TEST(Statement, WithTwoSubjectsOrDigestsIsRefused) {
  EXPECT_NE(WhyNot("\"subject\":[", R"("subject":[{"name":"x","digest":{"sha256":"x"}},)")
                .find("expected one subject, found 2"),
            std::string::npos);
  EXPECT_NE(WhyNot("\"digest\":{", "\"digest\":{\"sha512\":\"x\",").find("unknown member 'sha512'"),
            std::string::npos);
}

TEST(Statement, WithAnotherDigestThanItsRecordsIsRefused) {
  const std::string digest = RecordDigest(Good().record);
  EXPECT_NE(WhyNot("\"digest\":{\"sha256\":\"" + digest,
                   "\"digest\":{\"sha256\":\"" + std::string(64, '0'))
                .find("subject's digest"),
            std::string::npos);
  EXPECT_NE(WhyNot("\"record_sha256\":\"" + digest, "\"record_sha256\":\"" + std::string(64, '0'))
                .find("/record_sha256"),
            std::string::npos);
}

TEST(Statement, WithAChangedFieldIsRefused) {
  for (const std::string& field :
       {std::string(64, 'a'), std::string(64, 'b'), std::string("native"),
        std::string("\"container"), std::string("oci-image"), std::string("seccomp"),
        std::string("oci-manifest"), std::string("1000"), std::string("2000")}) {
    std::string other = field;
    other.back() = other.back() == '0' ? '1' : 'x';
    EXPECT_NE(WhyNot(field, other), "") << field;
  }
}

TEST(Statement, WithAnUnknownOrDoubledMemberIsRefused) {
  EXPECT_NE(WhyNot("\"version\":2", "\"version\":2,\"unanswered\":\"unavailable\"")
                .find("unknown member 'unanswered'"),
            std::string::npos);
  EXPECT_NE(WhyNot("\"version\":2", "\"version\":2,\"version\":2").find("twice"),
            std::string::npos);
  EXPECT_NE(WhyNot("{\"_type\"", "{\"x\":1,\"_type\"").find("unknown member 'x'"),
            std::string::npos);
}

}  // namespace
}  // namespace plimsoll::record
