// Digests and envelopes against tests/golden/record/vectors.json, most of which another
// implementation of the same encoding has published.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "base/text.h"
#include "crypto/sha256.h"
#include "json/reader.h"
#include "record/digest.h"
#include "record/dsse.h"
#include "record/statement.h"

namespace plimsoll::record {
namespace {

json::Document Vectors() {
  std::ifstream file(PLIMSOLL_SOURCE_DIR "/tests/golden/record/vectors.json");
  std::ostringstream text;
  text << file.rdbuf();
  auto document = json::Parse(text.str(), "vectors.json");
  EXPECT_TRUE(document) << document.error().Message();
  return *std::move(document);
}

// Calls `check` with every vector of a group; `least` of them have to be there.
void ForEach(std::string_view group, std::size_t least,
             const std::function<void(const json::Value&)>& check) {
  const json::Document document = Vectors();
  const auto items = document.Root().Member(group)->Array();
  ASSERT_TRUE(items);
  EXPECT_GE(items->size(), least);
  for (const json::Value& item : *items)
    check(item);
}

std::string Text(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  if (!value || !*value) return {};
  const auto text = (*value)->String();
  EXPECT_TRUE(text) << name;
  return text ? std::string(*text) : std::string();
}

// A number, or a text of one.
std::int64_t Number(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  if (!value || !*value) return 0;
  if (const auto number = (*value)->Int()) return *number;
  return std::stoll(Text(object, name));
}

bool Flag(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  return value && *value && *(*value)->Bool();
}

std::vector<json::Value> Items(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  return value && *value ? *(*value)->Array() : std::vector<json::Value>();
}

std::vector<std::string> Texts(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  return value && *value ? *(*value)->Strings() : std::vector<std::string>();
}

SoftwareRule Rule(const json::Value& rule) {
  return {.mode = Text(rule, "mode"), .identities = Texts(rule, "identities")};
}

TEST(Vectors, OfRequestsComeOut) {
  ForEach("requests", 2, [](const json::Value& vector) {
    const json::Value input = *vector.Member("input");
    const json::Value project = *input.Member("project");
    const std::string floor = Text(input, "minimumIsolation");
    std::vector<std::string> texts;  // what the fields point to
    texts.reserve(100);
    RequestFields request{
        .minimum_isolation = floor,
        .timeout_ms = static_cast<std::uint64_t>(Number(input, "timeoutMs")),
        .grant_profile = Text(project, "grantProfile"),
        .steps = Texts(project, "steps"),
        .artifacts = Texts(project, "artifacts"),
    };
    if (const auto rule = input.Find("softwareRule"); rule && *rule)
      request.software = Rule(**rule);
    for (const json::Value& file : Items(project, "files")) {
      const std::string& path = texts.emplace_back(Text(file, "path"));
      request.files.push_back({path, texts.emplace_back(Text(file, "content"))});
    }
    EXPECT_EQ(RequestDigest(request), Text(vector, "sha256")) << Text(vector, "name");
  });
}

TEST(Vectors, OfResultsComeOut) {
  ForEach("results", 5, [](const json::Value& vector) {
    const json::Value project = *vector.Member("input")->Member("project");
    const std::string detail = Text(project, "outcomeDetail");
    std::vector<std::string> texts;
    texts.reserve(100);
    ResultFields result{
        .outcome = Text(project, "outcome").ends_with("TIMED_OUT") ? Outcome::kTimedOut
                                                                   : Outcome::kCompleted,
        .outcome_detail = detail,
        .artifacts_truncated = Flag(project, "artifactsTruncated"),
    };
    for (const json::Value& step : Items(project, "steps")) {
      result.steps.push_back({.command = texts.emplace_back(Text(step, "command")),
                              .exit_code = Number(step, "exitCode"),
                              .timed_out = Flag(step, "timedOut"),
                              .out = texts.emplace_back(*DecodeBase64(Text(step, "stdout"))),
                              .err = texts.emplace_back(*DecodeBase64(Text(step, "stderr"))),
                              .out_truncated = Flag(step, "stdoutTruncated"),
                              .err_truncated = Flag(step, "stderrTruncated")});
    }
    for (const json::Value& file : Items(project, "artifacts")) {
      const std::string& path = texts.emplace_back(Text(file, "path"));
      result.artifacts.push_back({path, texts.emplace_back(*DecodeBase64(Text(file, "content")))});
    }
    EXPECT_EQ(ResultDigest(result), Text(vector, "sha256")) << Text(vector, "name");
  });
}

TEST(Vectors, OfRecordsComeOut) {
  ForEach("records", 3, [](const json::Value& vector) {
    const json::Value input = *vector.Member("input");
    const RecordFields record{
        .request_sha256 = Text(input, "requestSha256"),
        .result_sha256 = Text(input, "resultSha256"),
        .provider = Text(input, "provider"),
        .isolation = Text(input, "isolation"),
        .environment = Text(input, "environment"),
        .policy = Text(input, "policy"),
        .software_identity = Text(input, "softwareIdentity"),
        .software_rule_id = Text(input, "softwareRuleId"),
        .started_unix_ms = static_cast<std::uint64_t>(Number(input, "startedUnixMs")),
        .ended_unix_ms = static_cast<std::uint64_t>(Number(input, "endedUnixMs")),
        .session = Text(input, "session"),
        .sequence = static_cast<std::uint64_t>(Number(input, "sequence")),
        .previous_sha256 = Text(input, "previousSha256"),
    };
    EXPECT_EQ(RecordDigest(record), Text(vector, "sha256")) << Text(vector, "name");
  });
}

TEST(Vectors, OfSoftwareRulesComeOut) {
  ForEach("software_rule_ids", 3, [](const json::Value& vector) {
    EXPECT_EQ(Rule(*vector.Member("rule")).Id(), Text(vector, "id"));
  });
}

TEST(Vectors, OfEnvelopesVerifyAndNoneWithABitLess) {
  ForEach("dsse", 9, [](const json::Value& vector) {
    const std::string name = Text(vector, "name");
    if (const std::string expected = Text(vector, "pae"); !expected.empty()) {
      EXPECT_EQ(PreAuthentication(Text(vector, "payload_type"), Text(vector, "payload")), expected);
      return;
    }
    const auto key = crypto::PublicKey::FromPem(Text(vector, "public_key_pem"));
    ASSERT_TRUE(key) << name;
    EXPECT_EQ(key->Id(), Text(vector, "key_id")) << name;
    auto envelope = ReadEnvelope(*vector.Member("envelope"));
    ASSERT_TRUE(envelope) << name << envelope.error().Message();
    EXPECT_EQ(envelope->payload, Text(vector, "statement")) << name;
    EXPECT_EQ(crypto::Sha256HexOf(PreAuthentication(envelope->payload_type, envelope->payload)),
              Text(vector, "pae_sha256"));
    EXPECT_TRUE(CheckSignature(*envelope, *key)) << name;
    for (std::string* const part :
         {&envelope->payload, &envelope->payload_type, &envelope->signatures[0].key_id,
          &envelope->signatures[0].bytes}) {
      for (std::size_t i = 0; i < part->size(); i += 7) {
        (*part)[i] = static_cast<char>((*part)[i] ^ 1);
        EXPECT_FALSE(CheckSignature(*envelope, *key)) << name << " " << i;
        (*part)[i] = static_cast<char>((*part)[i] ^ 1);
      }
    }
  });
}

// The statement of version 2 reads, and is what we write of the same fields; the others are
// refused.
TEST(Vectors, OfStatementsAreReadWhenTheyAreOfVersion2) {
  int read = 0;
  ForEach("dsse", 9, [&](const json::Value& vector) {
    const std::string payload = Text(vector, "statement");
    if (payload.empty()) return;
    const auto statement = ReadStatement(payload);
    EXPECT_EQ(statement.has_value(), payload.find("\"version\":2") != std::string::npos)
        << (statement ? "" : statement.error().Message());
    if (!statement) return;
    ++read;
    EXPECT_EQ(WriteStatement(*statement), payload);
  });
  EXPECT_EQ(read, 1);
}

// Our own signature over a published statement is the published one.
TEST(Vectors, OfSignaturesComeOut) {
  ForEach("dsse", 9, [](const json::Value& vector) {
    const std::string hex = Text(vector, "private_seed_hex_test_only");
    if (hex.empty()) return;
    std::array<unsigned char, 32> seed;
    for (std::size_t i = 0; i < seed.size(); ++i)
      seed[i] = static_cast<unsigned char>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    const Envelope envelope =
        Sign(std::string(kStatementMediaType), Text(vector, "statement"), crypto::SigningKey(seed));
    json::Writer writer;
    WriteEnvelope(envelope, writer);
    json::Writer published;
    vector.Member("envelope")->WriteTo(published);
    EXPECT_EQ(writer.Text(), published.Text());
  });
}

}  // namespace
}  // namespace plimsoll::record
