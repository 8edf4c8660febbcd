// Profiles and rules as text.

#include "policy/describe.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <string>
#include <vector>

#include "support/temp_dir.h"
#include "unit/policy/policies.h"

namespace plimsoll::policy {
namespace {

const std::string kDefaultPath = PLIMSOLL_SOURCE_DIR "/policy/default.json";

TEST(CanonicalText, OfTheDefaultIsTheFileByteForByte) {
  const std::string text = testing_support::ReadWholeFile(kDefaultPath);
  EXPECT_EQ(CanonicalText(ProfileOf(text)), text);
}

TEST(CanonicalText, ReadAgainIsTheSameProfile) {
  const std::string text =
      R"({"architectures":["SCMP_ARCH_X86_64"],"defaultAction":"SCMP_ACT_KILL_PROCESS",)"
      R"("syscalls":[{"names":["read","write"],"action":"SCMP_ACT_TRACE","errnoRet":5,)"
      R"("comment":"with \"quotes\", a\nline and ü"},)"
      R"({"names":["open"],"action":"SCMP_ACT_ERRNO","errnoRet":0,"args":[)"
      R"({"index":0,"op":"SCMP_CMP_NE","value":18446744073709551615},)"
      R"({"index":1,"op":"SCMP_CMP_LT","value":3},{"index":2,"op":"SCMP_CMP_LE","value":3},)"
      R"({"index":3,"op":"SCMP_CMP_GT","value":3},{"index":4,"op":"SCMP_CMP_GE","value":3},)"
      R"({"index":5,"op":"SCMP_CMP_MASKED_EQ","value":255,"valueTwo":16}]},)"
      R"({"names":["close"],"action":"SCMP_ACT_LOG"},{"names":["dup"],"action":"SCMP_ACT_TRAP"},)"
      R"({"names":["pipe"],"action":"SCMP_ACT_KILL"}]})";
  const Profile profile = ProfileOf(text);
  EXPECT_EQ(ProfileOf(CanonicalText(profile)), profile);
}

TEST(CanonicalText, IsTheSameForEveryWayToWriteAProfile) {
  const std::string one = R"({"defaultAction":"SCMP_ACT_ERRNO","syscalls":[)"
                          R"({"name":"read","action":"SCMP_ACT_ALLOW","args":null}]})";
  const std::string other = R"({"syscalls":[{"args":[],"names":["read"],"comment":"",)"
                            R"("action":"SCMP_ACT_ALLOW"}],"defaultErrnoRet":1,)"
                            R"("defaultErrno":"EPERM","defaultAction":"SCMP_ACT_ERRNO"})";
  EXPECT_EQ(CanonicalText(ProfileOf(one)), CanonicalText(ProfileOf(other)));
}

TEST(CanonicalText, EndsWithOneNewline) {
  const std::string text = CanonicalText(ProfileOf(ProfileText("")));
  EXPECT_TRUE(text.ends_with("}\n")) << text;
}

TEST(DescribeTests, WritesEveryComparison) {
  EXPECT_EQ(DescribeTests({}), "");
  const auto describe = [](Comparison comparison, bool negated) {
    return DescribeTests({{.index = 1, .comparison = comparison, .value = 7, .negated = negated}});
  };
  EXPECT_EQ(describe(Comparison::kEqual, false), "arg1 == 7");
  EXPECT_EQ(describe(Comparison::kEqual, true), "arg1 != 7");
  EXPECT_EQ(describe(Comparison::kGreater, false), "arg1 > 7");
  EXPECT_EQ(describe(Comparison::kGreater, true), "arg1 <= 7");
  EXPECT_EQ(describe(Comparison::kGreaterOrEqual, false), "arg1 >= 7");
  EXPECT_EQ(describe(Comparison::kGreaterOrEqual, true), "arg1 < 7");
}

TEST(DescribeTests, WritesMasksAndLargeNumbersInHexadecimal) {
  EXPECT_EQ(DescribeTests({{.index = 0, .value = 2},
                           {.index = 1, .value = 1, .mask = 0xfff7f7ff},
                           {.index = 5, .value = 255},
                           {.index = 2, .value = 256},
                           {.index = 3, .value = 0, .mask = 3}}),
            "arg0 == 2, arg1 & 0xfff7f7ff == 1, arg5 == 255, arg2 == 0x100, arg3 & 0x3 == 0");
}

TEST(DescribeAction, SaysWhatHappensToTheCall) {
  EXPECT_EQ(DescribeAction(SECCOMP_RET_ALLOW), "allowed");
  EXPECT_EQ(DescribeAction(Refuse(EPERM)), "refused, EPERM (Operation not permitted)");
  EXPECT_EQ(DescribeAction(Refuse(4000)), "refused, errno 4000");
  EXPECT_EQ(DescribeAction(SECCOMP_RET_KILL_PROCESS), "ends the process");
  EXPECT_EQ(DescribeAction(SECCOMP_RET_KILL_THREAD), "ends the thread");
  EXPECT_EQ(DescribeAction(SECCOMP_RET_TRAP), "refused, by the signal SIGSYS");
  EXPECT_EQ(DescribeAction(SECCOMP_RET_LOG), "allowed, and noted in the kernel's log");
  EXPECT_EQ(DescribeAction(SECCOMP_RET_TRACE | 5U),
            "refused, ENOSYS (Function not implemented), since nobody traces the guest");
}

TEST(ErrnoOf, IsThereForErrnosAlone) {
  EXPECT_EQ(ErrnoOf(Refuse(ENOSYS)), ENOSYS);
  EXPECT_EQ(ErrnoOf(SECCOMP_RET_ALLOW), std::nullopt);
  EXPECT_EQ(ErrnoOf(SECCOMP_RET_TRACE | 1U), std::nullopt);
}

TEST(RulesOf, CountsOneRuleForEachNameInTheOrderOfTheProfile) {
  const std::vector<CallRule> rules = RulesOf(ProfileOf(
      ProfileText(R"({"names":["write","read"],"action":"SCMP_ACT_ALLOW","comment":"why"},)"
                  R"({"names":["open"],"action":"SCMP_ACT_ERRNO","args":[)"
                  R"({"index":0,"op":"SCMP_CMP_EQ","value":1}]})")));
  ASSERT_EQ(rules.size(), 3);
  EXPECT_EQ(rules[0].call, "write");
  EXPECT_EQ(rules[0].comment, "why");
  EXPECT_EQ(rules[1].call, "read");
  EXPECT_EQ(rules[2].call, "open");
  EXPECT_EQ(rules[2].tests, "arg0 == 1");
  EXPECT_EQ(rules[2].action, Refuse(EPERM));
  EXPECT_EQ(RulesOf(SourceOf({}).profile).size(), 245);
}

TEST(Compare, FindsNothingBetweenAProfileAndItself) {
  const Profile profile = SourceOf({}).profile;
  const RuleChanges changes = Compare(profile, profile);
  EXPECT_TRUE(changes.AreNone());
  EXPECT_EQ(changes.unchanged, 245);
}

TEST(Compare, LooksNeitherAtTheOrderNorAtCommentsNorAtHowNamesAreGrouped) {
  const Profile one = ProfileOf(
      ProfileText(R"({"names":["read","write"],"action":"SCMP_ACT_ALLOW","comment":"both"})"));
  const Profile other = ProfileOf(ProfileText(R"({"names":["write"],"action":"SCMP_ACT_ALLOW"},)"
                                              R"({"names":["read"],"action":"SCMP_ACT_ALLOW"})"));
  EXPECT_TRUE(Compare(one, other).AreNone());
}

TEST(Compare, SeesAnotherActionAnotherConditionAndAnotherDefault) {
  const Profile one =
      ProfileOf(ProfileText(R"({"names":["read"],"action":"SCMP_ACT_ERRNO","errnoRet":1},)"
                            R"({"names":["write"],"action":"SCMP_ACT_ALLOW"})"));
  const Profile other = ProfileOf(R"({"defaultAction":"SCMP_ACT_KILL","syscalls":[)"
                                  R"({"names":["read"],"action":"SCMP_ACT_ERRNO","errnoRet":38},)"
                                  R"({"names":["write"],"action":"SCMP_ACT_ALLOW","args":[)"
                                  R"({"index":0,"op":"SCMP_CMP_EQ","value":1}]}]})");
  const RuleChanges changes = Compare(one, other);
  ASSERT_EQ(changes.added.size(), 2);
  EXPECT_EQ(changes.added[0].action, Refuse(ENOSYS));
  EXPECT_EQ(changes.added[1].tests, "arg0 == 1");
  ASSERT_EQ(changes.removed.size(), 2);
  EXPECT_EQ(changes.removed[0].action, Refuse(EPERM));
  EXPECT_EQ(changes.removed[1].tests, "");
  EXPECT_EQ(changes.unchanged, 0);
  EXPECT_TRUE(changes.default_differs);
}

TEST(Compare, ARuleThatIsThereTwiceCountsTwice) {
  const std::string rule = R"({"names":["read"],"action":"SCMP_ACT_ALLOW"})";
  const RuleChanges changes =
      Compare(ProfileOf(ProfileText(rule)), ProfileOf(ProfileText(rule + "," + rule)));
  EXPECT_EQ(changes.added.size(), 1);
  EXPECT_EQ(changes.unchanged, 1);
}

}  // namespace
}  // namespace plimsoll::policy
