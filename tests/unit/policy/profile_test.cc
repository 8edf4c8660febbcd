#include "policy/profile.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <utility>
#include <vector>

namespace plimsoll::policy {
namespace {

// A profile around `entries`, the text of the "syscalls" array's items.
std::string Text(const std::string& entries) {
  return R"({"archMap":[{"architecture":"SCMP_ARCH_X86_64"}],"defaultAction":"SCMP_ACT_ERRNO",)"
         R"("syscalls":[)" +
         entries + "]}";
}

Result<std::optional<std::uint32_t>> NumberOf(const std::string& name) {
  static const std::map<std::string, std::uint32_t> known = {
      {"read", 0}, {"write", 1}, {"open", 2}};
  if (name == "chown32") return std::optional<std::uint32_t>();
  const auto found = known.find(name);
  if (found == known.end()) return Error{.kind = ErrorKind::kProtocol, .what = "unknown " + name};
  return std::optional<std::uint32_t>(found->second);
}

Result<Verdicts> Read(const std::string& text) {
  PLIMSOLL_TRY_ASSIGN(const Profile profile, ParseProfile(text, "test.json"));
  return ToVerdicts(profile, NumberOf);
}

const Decision kRefused = {.otherwise = Refuse(EPERM)};

std::string Allow(const std::string& args) {
  return R"({"names":["read"],"action":"SCMP_ACT_ALLOW","args":[)" + args + "]}";
}

TEST(ParseProfile, ReadsNamesActionsAndConditions) {
  const auto verdicts =
      Read(Text(R"({"names":["write","open"],"action":"SCMP_ACT_ERRNO","errnoRet":38},)" +
                Allow(R"({"index":5,"op":"SCMP_CMP_MASKED_EQ","value":240,"valueTwo":16})")));
  ASSERT_TRUE(verdicts.has_value()) << verdicts.error().Message();
  EXPECT_EQ(verdicts->At(1), (Decision{.otherwise = Refuse(ENOSYS)}));
  EXPECT_EQ(verdicts->At(2), (Decision{.otherwise = Refuse(ENOSYS)}));
  EXPECT_EQ(verdicts->At(0), (Decision{.rules = {{.tests = {{.index = 5, .value = 16, .mask = 240}},
                                                  .action = SECCOMP_RET_ALLOW}},
                                       .otherwise = Refuse(EPERM)}));
  EXPECT_EQ(verdicts->At(3), kRefused);
}

TEST(ParseProfile, KnowsEveryComparison) {
  struct Case {
    std::string name;
    Comparison comparison;
    bool negated;
  };
  for (const Case& c :
       {Case{"EQ", Comparison::kEqual, false}, Case{"NE", Comparison::kEqual, true},
        Case{"GT", Comparison::kGreater, false}, Case{"LE", Comparison::kGreater, true},
        Case{"GE", Comparison::kGreaterOrEqual, false},
        Case{"LT", Comparison::kGreaterOrEqual, true}}) {
    const auto profile = ParseProfile(Text(Allow(R"({"index":1,"op":"SCMP_CMP_)" + c.name +
                                                 R"(","value":18446744073709551615})")),
                                      "test.json");
    ASSERT_TRUE(profile.has_value()) << c.name << ": " << profile.error().Message();
    EXPECT_EQ(
        profile->entries[0].rule.tests,
        (std::vector<ArgTest>{
            {.index = 1, .comparison = c.comparison, .value = UINT64_MAX, .negated = c.negated}}))
        << c.name;
  }
}

TEST(ParseProfile, TheDefaultErrnoIsEpermUnlessGiven) {
  EXPECT_EQ(ParseProfile(Text(""), "test.json")->default_action, Refuse(EPERM));
  EXPECT_EQ(ParseProfile(R"({"archMap":[{"architecture":"SCMP_ARCH_X86_64"}],"syscalls":[],)"
                         R"("defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":38})",
                         "test.json")
                ->default_action,
            Refuse(ENOSYS));
}

struct Refusal {
  std::string name;
  std::string text;
  std::string what;  // the end of the message
};

class RefusedProfile : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedProfile, IsRefusedWithTheReason) {
  const auto verdicts = Read(GetParam().text);
  ASSERT_FALSE(verdicts.has_value());
  const std::string message = verdicts.error().Message();
  EXPECT_TRUE(message.ends_with(GetParam().what)) << message;
}

INSTANTIATE_TEST_SUITE_P(
    ParseProfile, RefusedProfile,
    testing::Values(
        Refusal{"UnknownAction", Text(R"({"names":["read"],"action":"SCMP_ACT_ASK"})"),
                "/syscalls/0/action: unknown action 'SCMP_ACT_ASK'"},
        Refusal{"ActionThatNeedsAnAgent", Text(R"({"names":["read"],"action":"SCMP_ACT_NOTIFY"})"),
                "/syscalls/0/action: 'SCMP_ACT_NOTIFY' needs an agent that answers"},
        Refusal{"ErrnoWithoutErrnoAction",
                Text(R"({"names":["read"],"action":"SCMP_ACT_ALLOW","errnoRet":1})"),
                "/syscalls/0/errnoRet: an errno for an action that gives none"},
        Refusal{"UnknownComparison", Text(Allow(R"({"index":0,"op":"SCMP_CMP_IN","value":1})")),
                "/syscalls/0/args/0/op: unknown comparison 'SCMP_CMP_IN'"},
        Refusal{"SecondValueWithoutMask",
                Text(Allow(R"({"index":0,"op":"SCMP_CMP_EQ","value":1,"valueTwo":2})")),
                "/syscalls/0/args/0: 'valueTwo' is for 'SCMP_CMP_MASKED_EQ'"},
        Refusal{"MaskThatNeverHolds",
                Text(Allow(R"({"index":0,"op":"SCMP_CMP_MASKED_EQ","value":1,"valueTwo":2})")),
                "/syscalls/0/args/0: never holds: 'valueTwo' has bits that 'value' masks"},
        Refusal{"ForeignArchitecture",
                R"({"archMap":[{"architecture":"SCMP_ARCH_AARCH64"}],"syscalls":[],)"
                R"("defaultAction":"SCMP_ACT_ERRNO"})",
                "/archMap: no entry for SCMP_ARCH_X86_64"},
        Refusal{"UnknownCall", Text(R"({"names":["raed"],"action":"SCMP_ACT_ALLOW"})"),
                "unknown raed"},
        Refusal{"RulesThatDisagree",
                Text(R"({"names":["read"],"action":"SCMP_ACT_ALLOW"},)"
                     R"({"names":["read"],"action":"SCMP_ACT_ERRNO"})"),
                "'read' has two rules without conditions that disagree"},
        Refusal{"ConditionsThatChangeNothing",
                Text(R"({"names":["read"],"action":"SCMP_ACT_ALLOW"},)" +
                     Allow(R"({"index":0,"op":"SCMP_CMP_EQ","value":1})")),
                "'read' has a rule with conditions that change nothing: its action is the same "
                "without them"}),
    [](const auto& test) { return test.param.name; });

TEST(ParseProfile, RefusesMembersThatItDoesNotKnow) {
  for (const std::string& text :
       {Text(R"({"names":["read"],"action":"SCMP_ACT_ALLOW","includes":{"users":["root"]}})"),
        Text(R"({"names":["read"],"action":"SCMP_ACT_ALLOW","only":{"caps":["CAP_BPF"]}})"),
        Text(Allow(R"({"index":0,"op":"SCMP_CMP_EQ","value":1,"width":32})")),
        std::string(R"({"archMap":[{"architecture":"SCMP_ARCH_X86_64"}],"syscalls":[],)"
                    R"("defaultAction":"SCMP_ACT_ERRNO","agents":[]})")}) {
    const auto profile = ParseProfile(text, "test.json");
    ASSERT_FALSE(profile.has_value()) << text;
    EXPECT_EQ(profile.error().kind, ErrorKind::kProtocol) << text;
  }
}

TEST(ParseProfile, RefusesArgumentsAndErrnosOutOfRange) {
  for (const std::string& text :
       {Text(Allow(R"({"index":6,"op":"SCMP_CMP_EQ","value":1})")),
        Text(Allow(R"({"index":0,"op":"SCMP_CMP_EQ","value":-1})")),
        Text(R"({"names":["read"],"action":"SCMP_ACT_ERRNO","errnoRet":4096})")}) {
    EXPECT_FALSE(ParseProfile(text, "test.json").has_value()) << text;
  }
}

// What is left of a file with these items in "syscalls", on a machine with this kernel.
Profile Parsed(const std::string& text, const Platform& platform = {}) {
  const auto profile = ParseProfile(text, "test.json", platform);
  EXPECT_TRUE(profile.has_value()) << text << "\n" << profile.error().Message();
  return profile ? *profile : Profile{};
}

TEST(ToVerdicts, ReadLenientlyTheStricterOfTwoRulesThatDisagreeCounts) {
  struct Case {
    std::string one;
    std::string other;
    std::uint32_t stricter;
  };
  for (const Case& c :
       {Case{"ALLOW", "ERRNO", Refuse(EPERM)}, Case{"ALLOW", "LOG", SECCOMP_RET_LOG},
        Case{"LOG", "TRACE", SECCOMP_RET_TRACE | 1U}, Case{"TRACE", "ERRNO", Refuse(EPERM)},
        Case{"ERRNO", "TRAP", SECCOMP_RET_TRAP}, Case{"TRAP", "KILL", SECCOMP_RET_KILL_THREAD},
        Case{"KILL", "KILL_PROCESS", SECCOMP_RET_KILL_PROCESS}}) {
    const auto entry = [](const std::string& action) {
      return R"({"names":["read"],"action":"SCMP_ACT_)" + action + R"("})";
    };
    for (const auto& [first, second] : {std::pair{c.one, c.other}, std::pair{c.other, c.one}}) {
      const Profile profile = Parsed(Text(entry(first) + "," + entry(second)));
      EXPECT_FALSE(ToVerdicts(profile, NumberOf, Reading::kStrict).has_value());
      const auto verdicts = ToVerdicts(profile, NumberOf, Reading::kLenient);
      ASSERT_TRUE(verdicts.has_value());
      EXPECT_EQ(verdicts->At(0).otherwise, c.stricter) << first << " " << second;
    }
  }
}

TEST(ToVerdicts, ReadLenientlyConditionsThatChangeNothingArePassedOver) {
  const Profile profile = Parsed(Text(R"({"names":["read"],"action":"SCMP_ACT_ALLOW"},)" +
                                      Allow(R"({"index":0,"op":"SCMP_CMP_EQ","value":1})")));
  EXPECT_FALSE(ToVerdicts(profile, NumberOf, Reading::kStrict).has_value());
  const auto verdicts = ToVerdicts(profile, NumberOf, Reading::kLenient);
  ASSERT_TRUE(verdicts.has_value());
  EXPECT_EQ(verdicts->At(0).otherwise, SECCOMP_RET_ALLOW);
}

TEST(ToVerdicts, LeavesOutCallsOfOtherArchitectures) {
  const auto verdicts = Read(Text(R"({"names":["chown32"],"action":"SCMP_ACT_ALLOW"})"));
  ASSERT_TRUE(verdicts.has_value()) << verdicts.error().Message();
  EXPECT_EQ(verdicts->Ranges(), (std::map<std::uint32_t, Decision>{{0, kRefused}}));
}

TEST(ToVerdicts, AConditionalRefusalStandsBeforeAnUnconditionalAllow) {
  for (const bool refusal_first : {true, false}) {
    const std::string allow = R"({"names":["read"],"action":"SCMP_ACT_ALLOW"})";
    const std::string refuse = R"({"names":["read"],"action":"SCMP_ACT_ERRNO",)"
                               R"("args":[{"index":0,"op":"SCMP_CMP_EQ","value":1}]})";
    const auto verdicts = Read(Text(refusal_first ? refuse + "," + allow : allow + "," + refuse));
    ASSERT_TRUE(verdicts.has_value()) << verdicts.error().Message();
    EXPECT_EQ(verdicts->At(0),
              (Decision{.rules = {{.tests = {{.index = 0, .value = 1}}, .action = Refuse(EPERM)}},
                        .otherwise = SECCOMP_RET_ALLOW}));
  }
}

}  // namespace
}  // namespace plimsoll::policy
