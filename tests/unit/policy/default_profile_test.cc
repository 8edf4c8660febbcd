// policy/default.json itself: what is in it, and the form in which its digest is taken.

#include <gtest/gtest.h>
#include <linux/filter.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "base/text.h"
#include "crypto/sha256.h"
#include "json/reader.h"
#include "json/writer.h"
#include "policy/bpf.h"
#include "policy/profile.h"
#include "policy/shipped.h"
#include "policy/source.h"

namespace plimsoll::policy {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file) << path;
  return text.str();
}

std::string DefaultText() {
  return ReadText(PLIMSOLL_SOURCE_DIR "/policy/default.json");
}

// The value again with its members sorted by name, as the digest wants it.
void WriteSorted(const json::Value& value, json::Writer& writer) {
  if (value.GetKind() == json::Kind::kString) {
    writer.String(*value.String());
  } else if (value.GetKind() == json::Kind::kArray) {
    writer.BeginArray();
    for (const json::Value& item : *value.Array())
      WriteSorted(item, writer);
    writer.EndArray();
  } else if (value.GetKind() == json::Kind::kObject) {
    auto members = *value.Members();
    std::sort(members.begin(), members.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    writer.BeginObject();
    for (const auto& [name, member] : members) {
      writer.Key(name);
      WriteSorted(member, writer);
    }
    writer.EndObject();
  } else {
    writer.Uint(*value.Uint());
  }
}

TEST(DefaultProfile, IsInCanonicalForm) {
  const auto document = json::Parse(DefaultText(), "default.json");
  ASSERT_TRUE(document.has_value());
  json::Writer writer(json::Writer::Style::kIndented);
  WriteSorted(document->Root(), writer);
  EXPECT_EQ(DefaultText(), writer.Text() + "\n");
}

TEST(DefaultProfile, AllowsExactlyTheListedCallsWithoutConditions) {
  const auto profile = ParseProfile(DefaultText(), "default.json");
  ASSERT_TRUE(profile.has_value()) << profile.error().Message();
  std::string allowed;
  for (const ProfileEntry& entry : profile->entries) {
    if (!entry.rule.tests.empty() || entry.rule.action != SECCOMP_RET_ALLOW) continue;
    for (const std::string& name : entry.names)
      allowed += name + "\n";
  }
  EXPECT_EQ(allowed, ReadText(PLIMSOLL_SOURCE_DIR "/tests/golden/default_allow.txt"));
  EXPECT_EQ(std::count(allowed.begin(), allowed.end(), '\n'), 237);
}

// name, action, then index, mask and value of the only test (0, 0, 0 without one).
using FlatRule = std::tuple<std::string, std::uint32_t, unsigned, std::uint64_t, std::uint64_t>;

TEST(DefaultProfile, Has245RulesOfWhichTheseEightAreNotInTheList) {
  const auto profile = ParseProfile(DefaultText(), "default.json");
  ASSERT_TRUE(profile.has_value()) << profile.error().Message();
  std::set<FlatRule> special;
  std::size_t count = 0;
  for (const ProfileEntry& entry : profile->entries) {
    count += entry.names.size();
    const bool is_list = entry.rule.tests.empty() && entry.rule.action == SECCOMP_RET_ALLOW;
    if (is_list) continue;
    ASSERT_LE(entry.rule.tests.size(), 1);
    const ArgTest test =
        entry.rule.tests.empty() ? ArgTest{.index = 0, .mask = 0} : entry.rule.tests[0];
    for (const std::string& name : entry.names) {
      special.emplace(name, entry.rule.action, test.index, test.mask, test.value);
    }
  }
  const std::uint32_t allow = SECCOMP_RET_ALLOW;
  EXPECT_EQ(count, 245);
  EXPECT_EQ(special, (std::set<FlatRule>{{"socket", allow, 0, UINT64_MAX, 1},
                                         {"socketpair", allow, 0, UINT64_MAX, 1},
                                         {"clone", allow, 0, 0x7e020000, 0},
                                         {"clone3", 0x00050000U | 38U, 0, 0, 0},
                                         {"personality", allow, 0, UINT64_MAX, 0},
                                         {"personality", allow, 0, UINT64_MAX, 0xffffffff},
                                         {"mknodat", allow, 2, 0170000, 0010000},
                                         {"mknod", allow, 1, 0170000, 0010000}}));
}

TEST(DefaultProfile, RefusesEverythingElseWithEperm) {
  EXPECT_EQ(ParseProfile(DefaultText(), "default.json")->default_action, 0x00050001U);
}

TEST(DefaultPolicy, DigestsAreThoseOfTheBytes) {
  const Policy policy = Shipped();
  const std::string folder = PLIMSOLL_BUILD_DIR "/generated/";
  EXPECT_EQ(policy.digest, "seccomp:sha256:" + crypto::Sha256HexOf(DefaultText()));
  EXPECT_EQ(policy.program_digest, "sha256:" + crypto::Sha256HexOf(Bytes(Program(
                                                   policy.program.begin(), policy.program.end()))));
  EXPECT_EQ(policy.program_digest,
            "sha256:" + crypto::Sha256HexOf(ReadText(folder + "default.bpf")));
  EXPECT_EQ(policy.guard_digest, "sha256:" + crypto::Sha256HexOf(ReadText(folder + "guard.bpf")));
  EXPECT_EQ(policy.profile_program_digest,
            "sha256:" + crypto::Sha256HexOf(ReadText(folder + "profile.bpf")));
}

// Every machine must make the same programs: records name them. A change of the policy or of the
// compiler changes these lines, and is seen here.
TEST(DefaultPolicy, DigestsAreTheSameOnEveryMachine) {
  const Policy policy = Shipped();
  EXPECT_EQ(policy.digest,
            "seccomp:sha256:169c8e41236e130b487a55c3e674aa93fb4477858a385693442c72f86b165840");
  EXPECT_EQ(policy.program_digest,
            "sha256:0d6a6a59ec83c3bcc5772f4718efcb5c854d57318b2591ded2d0c4e37ebbc21e");
  EXPECT_EQ(policy.guard_digest,
            "sha256:717109f488a12c063f4cd03db8102c87996125053ed79a262303096ea55ff304");
  EXPECT_EQ(policy.profile_program_digest,
            "sha256:1ee071d1d566c0ed46e9b6420b9b946d7d46c8167b8e550cf24437f7feba1408");
}

TEST(DefaultPolicy, DigestsWithADifferenceAreTheSameOnEveryMachine) {
  const Policy policy = Shipped({.writable_volume = true});
  EXPECT_EQ(policy.differences, std::vector<std::string>{"rw-volume"});
  EXPECT_EQ(policy.digest,
            "seccomp:sha256:7a7df7da9424a95df491179067f3cabde0082a108052880f67ab070a317c11e3");
  EXPECT_EQ(policy.program_digest,
            "sha256:0a0b2e56fa03643a2f4cf4dbd788361db3090f71c792e84bf3abb2efb6e30429");
  const auto sdk = ReadSource("default", {"sdk"}, {});
  ASSERT_TRUE(sdk.has_value());
  EXPECT_EQ(sdk->digest,
            "seccomp:sha256:2607d5f3223d1c31389646ded08b7e73fc9a964660cd7d49c2baf93f72c92c0a");
  EXPECT_EQ(Compile(*sdk)->program_digest,
            "sha256:478cef0c394c20fbaab09a4832228b62bdffb2670343debb6a5c9e9dac452278");
}

}  // namespace
}  // namespace plimsoll::policy
