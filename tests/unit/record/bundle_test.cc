// Bundles: what is appended verifies, and nothing else does.

#include "record/bundle.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "crypto/sha256.h"
#include "json/writer.h"
#include "record/key_file.h"
#include "record/verify.h"
#include "support/temp_dir.h"
#include "sys/file.h"

namespace plimsoll::record {
namespace {

const crypto::SigningKey& Key() {
  static const crypto::SigningKey key = *crypto::SigningKey::Generate();
  return key;
}

std::string Stream(const std::string& text) {
  json::Writer writer;
  writer.BeginObject().Member("text", text).Member("bytes", text.size());
  writer.Member("sha256", crypto::Sha256HexOf(text)).Member("truncated", false);
  return writer.EndObject().Take();
}

// A run of `echo WORD` that printed `out`.
Draft DraftOf(const std::string& word, const std::string& out) {
  const std::string command = "echo " + word;
  RequestFields request;
  request.steps = {command};
  ResultFields result{.outcome = Outcome::kCompleted};
  result.steps = {{.command = command, .out = out}};
  Draft draft;
  draft.request =
      R"({"protocol":2,"minimum_isolation":"","timeout_ms":0,"trace_id":"",)"
      R"("software_rule":{"mode":"","identities":[]},"project":{"grant_profile":[],"files":[],)"
      R"("steps":[")" +
      command + R"("],"artifacts":[]}})";
  draft.response = R"({"protocol":2,"sandbox":"native","isolation":"container","environment":"e",)"
                   R"("software_identity":"s","policy":"p","project":{"outcome":"completed",)"
                   R"("outcome_detail":"","artifacts_truncated":false,"steps":[{"command":")" +
                   command +
                   R"(","exit_code":0,"signal":0,"timed_out":false,"oom":false,"stdout":)" +
                   Stream(out) + R"(,"stderr":)" + Stream("") + R"(}],"artifacts":[]}})";
  draft.plan = "launch\n  0  clone\n";
  draft.statement.record = {.request_sha256 = RequestDigest(request),
                            .result_sha256 = ResultDigest(result),
                            .provider = "native",
                            .isolation = "container",
                            .environment = "e",
                            .policy = "p",
                            .software_identity = "s",
                            .started_unix_ms = 10,
                            .ended_unix_ms = 20};
  draft.statement.confinement = R"({"plan":"sha256:00"})";
  draft.statement.calls = R"({"grants":[]})";
  return draft;
}

class BundleTest : public testing::Test {
 protected:
  std::string Path() const { return folder_ / "records.jsonl"; }
  std::string Bytes() const { return *sys::ReadFile(Path(), std::size_t{1} << 30U); }
  void Replace(const std::string& bytes) const { folder_.WriteFile("records.jsonl", bytes); }

  Result<Appended> Append(const std::string& word) const {
    auto bundle = Bundle::Open(Path());
    if (!bundle) return bundle.error();
    return bundle->Append(DraftOf(word, word + "\n"), Key(), false);
  }
  Result<Verified> Verify(const Expectations& expected = {}) const {
    return VerifyBundle(Path(), Key().Public(), expected);
  }
  // Why the bundle is not good; empty when it is.
  std::string WhyNot(const Expectations& expected = {}) const {
    const auto verified = Verify(expected);
    return verified ? "" : verified.error().Message();
  }

  testing_support::TempDir folder_;
};

TEST_F(BundleTest, OfSeveralRunsVerifies) {
  std::string head;
  for (const std::string word : {"one", "two", "three"}) {
    const auto appended = Append(word);
    ASSERT_TRUE(appended) << appended.error().Message();
    head = appended->line_sha256;
  }
  const auto verified = Verify();
  ASSERT_TRUE(verified) << verified.error().Message();
  EXPECT_EQ(verified->lines, 3U);
  EXPECT_EQ(verified->head, head);
  struct stat status = {};
  ASSERT_EQ(::stat(Path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(BundleTest, WithoutALineIsGoodAndHasNone) {
  Replace("");
  const auto verified = Verify();
  ASSERT_TRUE(verified);
  EXPECT_EQ(verified->lines, 0U);
}

TEST_F(BundleTest, OfAnotherKeyIsRefused) {
  ASSERT_TRUE(Append("one"));
  const auto verified = VerifyBundle(Path(), crypto::SigningKey::Generate()->Public(), {});
  ASSERT_FALSE(verified);
  EXPECT_NE(verified.error().Message().find("line 1: envelope: no signature is of the key"),
            std::string::npos);
}

TEST_F(BundleTest, ThatWasCutAtItsEndIsSeenByWhoExpectsMore) {
  ASSERT_TRUE(Append("one"));
  const std::string head = Append("two")->line_sha256;
  EXPECT_EQ(WhyNot({.lines = 2, .head = head}), "");
  const std::string bytes = Bytes();
  Replace(bytes.substr(0, bytes.find('\n') + 1));
  EXPECT_EQ(WhyNot(), "");
  EXPECT_NE(WhyNot({.lines = 2, .head = {}}).find("it has 1 lines, expected 2"), std::string::npos);
  EXPECT_NE(WhyNot({.lines = {}, .head = head}).find("expected " + head), std::string::npos);
}

TEST_F(BundleTest, WithALineLessMoreOrElsewhereIsRefused) {
  for (const std::string word : {"one", "two", "three"})
    ASSERT_TRUE(Append(word));
  const std::string bytes = Bytes();
  const std::size_t second = bytes.find('\n') + 1;
  const std::size_t third = bytes.find('\n', second) + 1;
  const std::string one = bytes.substr(0, second);
  const std::string two = bytes.substr(second, third - second);
  const std::string three = bytes.substr(third);
  for (const std::string& other :
       {two + three, one + three, one + one + two + three, one + two + two + three,
        two + one + three, one + three + two, one + "\n" + two + three, "\n" + bytes, bytes + "\n",
        bytes.substr(0, bytes.size() - 1), one + two.substr(0, 40)}) {
    Replace(other);
    EXPECT_NE(WhyNot(), "") << other.size();
  }
  Replace(bytes);
  EXPECT_EQ(WhyNot(), "");
}

TEST_F(BundleTest, WithAnyByteChangedIsRefused) {
  ASSERT_TRUE(Append("one"));
  std::string line = Bytes();
  line.pop_back();
  ASSERT_TRUE(CheckLine(line, Key().Public()));
  for (std::size_t at = 0; at < line.size(); ++at) {
    std::string other = line;
    other[at] = static_cast<char>(other[at] ^ 1 << at % 8);
    ASSERT_FALSE(CheckLine(other, Key().Public())) << "byte " << at;
  }
}

TEST_F(BundleTest, WithAByteMoreOrLessIsRefused) {
  ASSERT_TRUE(Append("one"));
  std::string line = Bytes();
  line.pop_back();
  for (std::size_t at = 0; at < line.size(); ++at) {
    std::string less = line;
    less.erase(at, 1);
    ASSERT_FALSE(CheckLine(less, Key().Public())) << "without byte " << at;
    std::string more = line;
    more.insert(at, 1, ' ');
    ASSERT_FALSE(CheckLine(more, Key().Public())) << "a blank before byte " << at;
  }
}

TEST_F(BundleTest, WithMembersInAnotherOrderIsRefused) {
  ASSERT_TRUE(Append("one"));
  std::string bytes = Bytes();
  const std::size_t at = bytes.find(",\"plan\":");
  const std::size_t end = bytes.find(",\"envelope\":");
  const std::string plan = bytes.substr(at + 1, end - at - 1);
  bytes.erase(at, end - at);
  bytes.insert(1, plan + ",");
  Replace(bytes);
  EXPECT_NE(WhyNot().find("one spelling"), std::string::npos) << WhyNot();
}

TEST_F(BundleTest, WithASignaturesMembersInAnotherOrderIsRefused) {
  ASSERT_TRUE(Append("one"));
  std::string bytes = Bytes();
  const std::size_t at = bytes.find("\"keyid\":");
  const std::size_t comma = bytes.find(',', at);
  const std::size_t end = bytes.find('}', comma);
  const std::string id = bytes.substr(at, comma - at);
  bytes.replace(at, end - at, bytes.substr(comma + 1, end - comma - 1) + "," + id);
  Replace(bytes);
  EXPECT_NE(WhyNot().find("one spelling"), std::string::npos) << WhyNot();
}

// Signed by the right key, but saying what does not hold.
TEST_F(BundleTest, ThatSignsWhatDoesNotHoldIsRefused) {
  struct Row {
    std::string what;
    std::string why;
    std::function<void(Draft&)> change;
  };
  const std::vector<Row> rows = {
      {"request", "request: digest",
       [](Draft& draft) { draft.statement.record.request_sha256[0] ^= 1; }},
      {"result", "response: digest",
       [](Draft& draft) { draft.statement.record.result_sha256[0] ^= 1; }},
      {"image", "response: /environment",
       [](Draft& draft) { draft.statement.record.environment = "x"; }},
      {"policy", "response: /policy", [](Draft& draft) { draft.statement.record.policy = "x"; }},
      {"times", "ended before", [](Draft& draft) { draft.statement.record.ended_unix_ms = 9; }},
      {"rule", "software_rule_id",
       [](Draft& draft) { draft.statement.record.software_rule_id = "x"; }},
      {"floor", "weaker than the floor",
       [](Draft& draft) {
         draft.request.replace(draft.request.find("\"minimum_isolation\":\"\""), 22,
                               "\"minimum_isolation\":\"vm\"");
         RequestFields request{.minimum_isolation = "vm"};
         request.steps = {"echo one"};
         draft.statement.record.request_sha256 = RequestDigest(request);
       }},
      {"output", "not the length",
       [](Draft& draft) {
         draft.response.replace(draft.response.find("\"bytes\":4"), 9, "\"bytes\":5");
       }},
  };
  for (const Row& row : rows) {
    Replace("");
    Draft draft = DraftOf("one", "one\n");
    row.change(draft);
    ASSERT_TRUE(Bundle::Open(Path())->Append(draft, Key(), false));
    EXPECT_NE(WhyNot().find(row.why), std::string::npos) << row.what << ": " << WhyNot();
  }
}

TEST_F(BundleTest, OfManyAtOnceVerifies) {
  constexpr int kWriters = 8;
  constexpr int kLines = 25;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([this] {
        for (int line = 0; line < kLines; ++line)
          EXPECT_TRUE(Append("word"));
      });
    }
  }
  EXPECT_EQ(WhyNot({.lines = kWriters * kLines, .head = {}}), "");
}

TEST_F(BundleTest, WithATornLineGoesOnBehindTheLastWholeOne) {
  ASSERT_TRUE(Append("one"));
  const std::string whole = Bytes();
  ASSERT_TRUE(Append("two"));
  const std::string bytes = Bytes();
  for (const std::size_t size : {whole.size() + 1, whole.size() + 100, bytes.size() - 1}) {
    Replace(bytes.substr(0, size));
    EXPECT_NE(WhyNot().find("line 2: the last line is cut short"), std::string::npos) << WhyNot();
    const auto appended = Append("three");
    ASSERT_TRUE(appended) << appended.error().Message();
    EXPECT_EQ(appended->torn_bytes, size - whole.size());
    EXPECT_EQ(appended->index, 2U);
    EXPECT_EQ(WhyNot({.lines = 2, .head = {}}), "");
  }
}

TEST_F(BundleTest, IsNotAppendedToAFileOfAnotherKind) {
  for (const std::string text : {"some notes", "some notes\n", "{}\n", "\n", "{\"request\":1}\n"}) {
    Replace(text);
    EXPECT_FALSE(Append("one")) << text;
    EXPECT_EQ(Bytes(), text);
  }
  EXPECT_FALSE(Bundle::Open("/dev/null"));
  EXPECT_FALSE(Bundle::Open(folder_ / "."));
}

// A limit on file sizes stands for a full disk.
TEST_F(BundleTest, ThatALineDoesNotFitIntoStaysAsItWas) {
  ASSERT_TRUE(Append("one"));
  const std::string bytes = Bytes();
  const pid_t child = ::fork();
  if (child == 0) {
    (void)::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {bytes.size() + 500, bytes.size() + 500};
    (void)::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(Append("two") ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Bytes(), bytes);
}

TEST_F(BundleTest, FollowsALineLongerThanAPieceThatIsRead) {
  const std::string long_text(100'000, 'x');
  ASSERT_TRUE(Bundle::Open(Path())->Append(DraftOf("long", long_text), Key(), true));
  ASSERT_TRUE(Bundle::Open(Path())->Append(DraftOf("long", long_text), Key(), true));
  ASSERT_TRUE(Append("short"));
  EXPECT_EQ(WhyNot({.lines = 3, .head = {}}), "");
}

class KeyFileTest : public testing::Test {
 protected:
  std::string Path() const { return folder_ / "keys/harness.key"; }
  testing_support::TempDir folder_;
};

TEST_F(KeyFileTest, IsMadeOnceAndIsReadByItsOwnerAlone) {
  ASSERT_TRUE(*MakeKeyPair(Path()));
  const auto key = ReadPrivateKey(Path());
  ASSERT_TRUE(key) << key.error().Message();
  EXPECT_EQ(*ReadPublicKey(folder_ / "keys/harness.pub"), key->Public());
  EXPECT_FALSE(*MakeKeyPair(Path()));
  EXPECT_EQ(ReadPrivateKey(Path())->Public(), key->Public());
  struct stat status = {};
  ASSERT_EQ(::stat(Path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(sys::ListDirectory(sys::Open(folder_ / "keys", O_RDONLY)->Get(), "keys")->size(), 2U);
}

TEST_F(KeyFileTest, ThatOthersCanReadIsRefused) {
  ASSERT_TRUE(*MakeKeyPair(Path()));
  for (const unsigned mode : {0640U, 0604U, 0620U}) {
    ASSERT_EQ(::chmod(Path().c_str(), mode), 0);
    const auto key = ReadPrivateKey(Path());
    ASSERT_FALSE(key);
    EXPECT_EQ(key.error().kind, ErrorKind::kPermission);
  }
}

TEST_F(KeyFileTest, OfAnotherKindIsRefused) {
  const std::string path = folder_.WriteFile("x.key", "no key\n");
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_NE(ReadPrivateKey(path).error().Message().find("no Ed25519 private key"),
            std::string::npos);
  EXPECT_FALSE(ReadPublicKey(path));
  EXPECT_EQ(ReadPrivateKey(folder_ / "absent").error().sys_errno, ENOENT);
}

TEST(PublicPath, StandsBesideThePrivateOne) {
  EXPECT_EQ(PublicPath("/a/harness.key"), "/a/harness.pub");
  EXPECT_EQ(PublicPath("mine"), "mine.pub");
}

}  // namespace
}  // namespace plimsoll::record
