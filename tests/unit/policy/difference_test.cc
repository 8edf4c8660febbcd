// Differences: what the shipped ones change in the default, and what any of them may change.

#include "policy/difference.h"

#include <asm/unistd.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "policy/calls.h"
#include "policy/describe.h"
#include "policy/interpret.h"
#include "unit/policy/policies.h"

namespace plimsoll::policy {
namespace {

// A difference that restricts alone; `restrictions` is the text of the items.
Difference Restricting(const std::string& restrictions) {
  return DifferenceOf(R"({"comment":"","allow":[],"restrict":[)" + restrictions + "]}");
}

std::string Restriction(const std::string& name, const std::string& args) {
  return R"({"names":[")" + name + R"("],"comment":"","args":[)" + args + "]}";
}

std::string Equal(unsigned index, std::uint64_t value) {
  return R"({"index":)" + std::to_string(index) + R"(,"op":"SCMP_CMP_EQ","value":)" +
         std::to_string(value) + "}";
}

std::string Masked(unsigned index, std::uint64_t mask, std::uint64_t value) {
  return R"({"index":)" + std::to_string(index) + R"(,"op":"SCMP_CMP_MASKED_EQ","value":)" +
         std::to_string(mask) + R"(,"valueTwo":)" + std::to_string(value) + "}";
}

std::string Entry(const std::string& name, const std::string& action, const std::string& args) {
  return R"({"names":[")" + name + R"("],"action":"SCMP_ACT_)" + action + R"(","args":[)" + args +
         "]}";
}

Profile Applied(const Difference& difference, const Profile& profile) {
  auto applied = Apply(difference, profile);
  if (applied) return *std::move(applied);
  ADD_FAILURE() << applied.error().Message();
  return {};
}

std::uint32_t Answer(const Profile& profile, std::uint32_t number, const Arguments& arguments) {
  return Decide(VerdictsFor({.name = "test", .profile = profile}), Call(number, arguments));
}

// A rule without its comment.
using Flat = std::pair<std::string, std::string>;

std::set<Flat> Flatten(const std::vector<CallRule>& rules) {
  std::set<Flat> flat;
  for (const CallRule& rule : rules) {
    EXPECT_EQ(rule.action, SECCOMP_RET_ALLOW) << rule.call;
    flat.emplace(rule.call, rule.tests);
  }
  return flat;
}

TEST(SdkDifference, AddsTheseTenRulesRemovesTheseTwoAndLeaves243) {
  const RuleChanges changes = Compare(SourceOf({}).profile, SourceOf({"sdk"}).profile);
  const std::string stream = "arg0 == 2, arg1 & 0xfff7f7ff == 1, arg2 == ";
  EXPECT_EQ(changes.added.size(), 10);
  EXPECT_EQ(Flatten(changes.added), (std::set<Flat>{{"getsockopt", "arg1 == 1, arg2 == 3"},
                                                    {"getsockopt", "arg1 == 1, arg2 == 4"},
                                                    {"setsockopt", "arg1 == 1, arg2 == 2"},
                                                    {"setsockopt", "arg1 == 1, arg2 == 9"},
                                                    {"setsockopt", "arg1 == 6, arg2 == 1"},
                                                    {"setsockopt", "arg1 == 6, arg2 == 4"},
                                                    {"setsockopt", "arg1 == 6, arg2 == 5"},
                                                    {"setsockopt", "arg1 == 6, arg2 == 6"},
                                                    {"socket", stream + "0"},
                                                    {"socket", stream + "6"}}));
  EXPECT_EQ(changes.removed.size(), 2);
  EXPECT_EQ(Flatten(changes.removed), (std::set<Flat>{{"getsockopt", ""}, {"setsockopt", ""}}));
  EXPECT_EQ(changes.unchanged, 243);
  EXPECT_FALSE(changes.default_differs);
}

TEST(ShippedDifferences, EveryRuleThatTheyAddSaysWhy) {
  for (const Names& names : DifferenceSets()) {
    const RuleChanges changes = Compare(SourceOf({}).profile, SourceOf(names).profile);
    for (const CallRule& rule : changes.added) {
      EXPECT_GT(rule.comment.size(), 10) << rule.call << " " << rule.tests;
    }
  }
}

TEST(RwVolumeDifference, OnlyRestricts) {
  EXPECT_TRUE(DifferenceOf(std::string(DifferenceText("rw-volume"))).allowed.empty());
}

TEST(RwVolumeDifference, LetsNoModeWithTheSetUserOrGroupBitPass) {
  struct Case {
    std::uint32_t number;
    unsigned mode_index;
    Arguments others;
  };
  constexpr std::uint64_t kCreate = 0100;
  constexpr std::uint64_t kTemporary = 020200000;  // O_TMPFILE
  const Verdicts verdicts = VerdictsFor(SourceOf({"rw-volume"}));
  for (const Case& c :
       {Case{__NR_chmod, 1, {}}, Case{__NR_fchmod, 1, {}}, Case{__NR_fchmodat, 2, {}},
        Case{__NR_open, 2, {0, kCreate}}, Case{__NR_open, 2, {0, kTemporary}},
        Case{__NR_openat, 3, {0, 0, kCreate}}, Case{__NR_openat, 3, {0, 0, kTemporary}}}) {
    for (const std::uint64_t bits : {04000UL, 02000UL, 06000UL, 04755UL, 02755UL}) {
      for (const std::uint64_t high : {0UL, 1UL << 32U, UINT64_MAX << 32U}) {
        Arguments arguments = c.others;
        arguments[c.mode_index] = high | bits;
        EXPECT_EQ(Decide(verdicts, Call(c.number, arguments)), Refuse(EPERM))
            << NameOfCall(c.number) << " " << std::oct << bits;
      }
    }
    Arguments plain = c.others;
    plain[c.mode_index] = 01777;
    EXPECT_EQ(Decide(verdicts, Call(c.number, plain)), SECCOMP_RET_ALLOW) << NameOfCall(c.number);
  }
}

TEST(RwVolumeDifference, AnswersCallsWhoseModeLiesInMemoryLikeAKernelWithoutThem) {
  constexpr std::uint32_t kFchmodat2 = 452;
  const Verdicts verdicts = VerdictsFor(SourceOf({"rw-volume"}));
  EXPECT_EQ(Decide(verdicts, Call(__NR_openat2, {})), Refuse(ENOSYS));
  EXPECT_EQ(Decide(VerdictsFor(SourceOf({})), Call(__NR_openat2, {})), SECCOMP_RET_ALLOW);
  EXPECT_NE(Decide(verdicts, Call(kFchmodat2, {})), SECCOMP_RET_ALLOW) << "the guard's to answer";
}

TEST(RwVolumeDifference, OpensFilesWithoutLookingAtAModeThatTheKernelDoesNotLookAt) {
  const Verdicts verdicts = VerdictsFor(SourceOf({"rw-volume"}));
  EXPECT_EQ(Decide(verdicts, Call(__NR_open, {0, 0, 06777})), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Decide(verdicts, Call(__NR_openat, {0, 0, 0, 06777})), SECCOMP_RET_ALLOW);
}

// The text of a profile cannot say "and" of two tests of one argument: to whoever reads it they are
// alternatives, and a pipe without these bits would become any device without them.
TEST(ShippedDifferences, ADerivedPolicyReadFromItsTextIsTheSamePolicy) {
  for (const Names& names : DifferenceSets()) {
    const Profile derived = SourceOf(names).profile;
    EXPECT_EQ(ProfileOf(CanonicalText(derived)), derived);
  }
}

TEST(ShippedDifferences, TheirOrderChangesNoAnswer) {
  const Verdicts one = VerdictsFor(SourceOf({"rw-volume", "sdk"}));
  const Verdicts other = VerdictsFor(SourceOf({"sdk", "rw-volume"}));
  for (std::uint32_t number = 0; number < 500; ++number) {
    for (const Arguments& arguments : TellingArguments(one.At(number))) {
      const seccomp_data call = Call(number, arguments);
      ASSERT_EQ(Decide(one, call), Decide(other, call)) << NameOfCall(number);
    }
  }
}

TEST(Apply, ARestrictionOnAConditionalRuleMustHoldBesideIt) {
  const Profile profile = ProfileOf(ProfileText(Entry("read", "ALLOW", Equal(0, 7))));
  const Profile both = Applied(Restricting(Restriction("read", Equal(1, 8))), profile);
  EXPECT_EQ(Answer(both, __NR_read, {7, 8}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(both, __NR_read, {7, 9}), Refuse(EPERM));
  EXPECT_EQ(Answer(both, __NR_read, {6, 8}), Refuse(EPERM));
}

TEST(Apply, TestsOfOneArgumentBecomeOneTest) {
  const Profile profile =
      ProfileOf(ProfileText(Entry("mknod", "ALLOW", Masked(1, 0170000, 010000))));
  const Profile both = Applied(Restricting(Restriction("mknod", Masked(1, 06000, 0))), profile);
  ASSERT_EQ(both.entries.size(), 1);
  EXPECT_EQ(both.entries[0].rule.tests,
            (std::vector<ArgTest>{{.index = 1, .value = 010000, .mask = 0176000}}));
}

TEST(Apply, ATestThatIsThereAlreadyIsNotAddedAgain) {
  const std::string test = R"({"index":0,"op":"SCMP_CMP_GT","value":3})";
  const Profile profile = ProfileOf(ProfileText(Entry("read", "ALLOW", test)));
  EXPECT_EQ(Applied(Restricting(Restriction("read", test)), profile).entries[0].rule,
            profile.entries[0].rule);
}

TEST(Apply, ConditionsThatCannotBothHoldLeaveNothingAllowed) {
  const Profile profile = ProfileOf(ProfileText(Entry("read", "ALLOW", Masked(0, 3, 1))));
  const Profile both = Applied(Restricting(Restriction("read", Masked(0, 6, 2))), profile);
  EXPECT_TRUE(both.entries.empty());
}

TEST(Apply, ConditionsThatNoTextCanJoinAreAnError) {
  const Profile profile =
      ProfileOf(ProfileText(Entry("read", "ALLOW", R"({"index":0,"op":"SCMP_CMP_GT","value":3})")));
  const auto both = Apply(Restricting(Restriction("read", Masked(0, 6, 2))), profile);
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(both.error().what,
            "the profile and a difference both have conditions on arg0 of read that cannot be one "
            "test");
}

// A difference that refuses `name` with ENOSYS.
Difference Refusing(const std::string& name) {
  return DifferenceOf(R"({"comment":"","allow":[],"restrict":[],"refuse":[{"names":[")" + name +
                      R"("],"action":"SCMP_ACT_ERRNO","errnoRet":38,"comment":""}]})");
}

TEST(Apply, ARefusalTakesThePlaceOfEveryPermission) {
  const Profile profile = ProfileOf(
      ProfileText(Entry("read", "ALLOW", Equal(0, 7)) + "," + Entry("write", "ALLOW", "")));
  EXPECT_EQ(Answer(Applied(Refusing("read"), profile), __NR_read, {7}), Refuse(ENOSYS));
  EXPECT_EQ(Answer(Applied(Refusing("read"), profile), __NR_write, {7}), SECCOMP_RET_ALLOW);
}

TEST(Apply, ARefusalLeavesCallsAloneThatWereRefused) {
  const Profile profile = ProfileOf(ProfileText(Entry("read", "ERRNO", "")));
  EXPECT_EQ(Applied(Refusing("read"), profile), profile);
  EXPECT_EQ(Applied(Refusing("write"), profile), profile);
}

TEST(Apply, AlternativesOfOneCallAddUp) {
  const Profile profile = ProfileOf(ProfileText(Entry("read", "ALLOW", "")));
  const Difference difference = Restricting(Restriction("read", Equal(0, 1)) + "," +
                                            Restriction("read", Equal(0, 2) + "," + Equal(0, 3)));
  const Profile both = Applied(difference, profile);
  for (std::uint64_t value = 0; value < 6; ++value) {
    const bool is_allowed = value >= 1 && value <= 3;
    EXPECT_EQ(Answer(both, __NR_read, {value}), is_allowed ? SECCOMP_RET_ALLOW : Refuse(EPERM));
  }
}

TEST(Apply, WhatTheKernelWouldLogIsRestrictedLikeWhatItAllows) {
  const Profile profile = ProfileOf(ProfileText(Entry("read", "LOG", "")));
  const Profile both = Applied(Restricting(Restriction("read", Equal(0, 1))), profile);
  EXPECT_EQ(Answer(both, __NR_read, {1}), SECCOMP_RET_LOG);
  EXPECT_EQ(Answer(both, __NR_read, {0}), Refuse(EPERM));
}

TEST(Apply, APermissionThatARefusalOutweighsGetsNoConditionsToHoldBy) {
  const Profile profile =
      ProfileOf(ProfileText(Entry("read", "ALLOW", "") + "," + Entry("read", "ERRNO", "")));
  EXPECT_EQ(Answer(profile, __NR_read, {1}), Refuse(EPERM));
  const Profile both = Applied(Restricting(Restriction("read", Equal(0, 1))), profile);
  EXPECT_EQ(Answer(both, __NR_read, {1}), Refuse(EPERM));
}

TEST(Apply, LeavesWhatItDoesNotNameInItsOrder) {
  const Profile profile =
      ProfileOf(ProfileText(R"({"names":["write","read","open"],"action":"SCMP_ACT_ALLOW"})"));
  const Profile both = Applied(Restricting(Restriction("read", Equal(0, 1))), profile);
  ASSERT_EQ(both.entries.size(), 2);
  EXPECT_EQ(both.entries[0].names, (Names{"write", "open"}));
  EXPECT_EQ(both.entries[1].names, (Names{"read"}));
}

// The calls that some difference names, and two that none does.
const Names& SomeCalls() {
  static const Names calls = {"chmod",  "fchmod",  "fchmodat", "creat",      "open",
                              "openat", "openat2", "mknod",    "getsockopt", "setsockopt",
                              "socket", "read",    "clone3"};
  return calls;
}

// A profile of a few random entries: any action, with conditions (of equality alone, which always
// join) or without, contradictions and repetitions included.
Profile RandomProfile(std::mt19937& random) {
  constexpr std::uint32_t kActions[] = {
      SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW,       SECCOMP_RET_LOG,
      Refuse(EPERM),     Refuse(EACCES),    SECCOMP_RET_KILL_PROCESS};
  Profile profile{.default_action = Refuse(EPERM), .entries = {}};
  for (std::size_t i = 0; i < 12; ++i) {
    ProfileEntry entry{.names = {SomeCalls()[random() % SomeCalls().size()]},
                       .rule = {.tests = {}, .action = kActions[random() % std::size(kActions)]},
                       .comment = {}};
    const std::uint64_t masks[] = {UINT64_MAX, 0xffffffff, 0170000, 3};
    for (unsigned index = 0; index < 4; ++index) {
      if (random() % 4 != 0) continue;
      const std::uint64_t mask = masks[random() % std::size(masks)];
      entry.rule.tests.push_back({.index = index, .value = random() % 8 & mask, .mask = mask});
    }
    profile.entries.push_back(std::move(entry));
  }
  return profile;
}

void ExpectNothingMoreAllowed(const Verdicts& before, const Verdicts& after) {
  for (const std::string& name : SomeCalls()) {
    const std::uint32_t number = *NumberOfCall(name);
    std::set<Arguments> telling = TellingArguments(before.At(number));
    telling.merge(TellingArguments(after.At(number)));
    for (const Arguments& arguments : telling) {
      const seccomp_data call = Call(number, arguments);
      if (!LetsPass(Decide(after, call))) continue;
      ASSERT_TRUE(LetsPass(Decide(before, call))) << name;
    }
  }
}

TEST(Apply, ARestrictionNeverAllowsWhatWasRefused) {
  std::mt19937 random(3);
  for (const std::string_view name : DifferenceNames()) {
    Difference difference = DifferenceOf(std::string(DifferenceText(name)));
    difference.allowed.clear();
    for (int round = 0; round < 300; ++round) {
      const Profile before = RandomProfile(random);
      const Profile after = Applied(difference, before);
      ExpectNothingMoreAllowed(VerdictsFor({.name = "", .profile = before}),
                               VerdictsFor({.name = "", .profile = after}));
    }
  }
}

TEST(Apply, ARestrictionAllowsNothingInAProfileThatAllowsNothing) {
  for (const std::string_view name : DifferenceNames()) {
    Difference difference = DifferenceOf(std::string(DifferenceText(name)));
    difference.allowed.clear();
    EXPECT_TRUE(Applied(difference, ProfileOf(ProfileText(""))).entries.empty()) << name;
  }
}

struct Wrong {
  std::string name;
  std::string text;
  std::string what;  // the end of the message
};

class RefusedDifference : public testing::TestWithParam<Wrong> {};

TEST_P(RefusedDifference, IsRefusedWithThePlaceAndTheReason) {
  const auto difference = ParseDifference(GetParam().text, "test.json");
  ASSERT_FALSE(difference.has_value());
  EXPECT_EQ(difference.error().kind, ErrorKind::kProtocol);
  const std::string message = difference.error().Message();
  EXPECT_TRUE(message.ends_with(GetParam().what)) << message;
  EXPECT_TRUE(message.starts_with("test.json")) << message;
}

INSTANTIATE_TEST_SUITE_P(
    ParseDifference, RefusedDifference,
    testing::Values(
        Wrong{"RefusalThatIsAdded",
              R"({"comment":"","restrict":[],"allow":[)"
              R"({"names":["read"],"action":"SCMP_ACT_ERRNO","comment":""}]})",
              "/allow/0: expected the action 'SCMP_ACT_ALLOW'"},
        Wrong{"RestrictionWithoutConditions",
              R"({"comment":"","allow":[],"restrict":[{"names":["read"],"comment":""}]})",
              "/restrict/0: a restriction without 'args' restricts nothing"},
        Wrong{"RefusalWithConditions",
              R"({"comment":"","allow":[],"restrict":[],"refuse":[{"names":["read"],"comment":"",)"
              R"("action":"SCMP_ACT_ERRNO","args":[{"index":0,"op":"SCMP_CMP_EQ","value":1}]}]})",
              "/refuse/0: a refusal has no 'args'"},
        Wrong{"PermissionAmongRefusals",
              R"({"comment":"","allow":[],"restrict":[],"refuse":[)"
              R"({"names":["read"],"action":"SCMP_ACT_ALLOW","comment":""}]})",
              "/refuse/0: expected the action 'SCMP_ACT_ERRNO'"},
        Wrong{"RestrictionWithAnAction",
              R"({"comment":"","allow":[],"restrict":[)"
              R"({"names":["read"],"comment":"","action":"SCMP_ACT_ERRNO","args":[]}]})",
              "/restrict/0/action: unknown member 'action'"},
        Wrong{"NoReason", R"({"allow":[],"restrict":[]})", "the member 'comment' is missing"},
        Wrong{"NoReasonOfAnEntry",
              R"({"comment":"","restrict":[],"allow":[)"
              R"({"names":["read"],"action":"SCMP_ACT_ALLOW"}]})",
              "/allow/0: the member 'comment' is missing"},
        Wrong{"NoList", R"({"comment":"","allow":[]})", "the member 'restrict' is missing"},
        Wrong{"NotAnObject", "[]", "expected an object, found an array"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace plimsoll::policy
