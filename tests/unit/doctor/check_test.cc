// The checks as a whole: which there are, who the guest would be, and when a run works.
#include "doctor/check.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "unit/doctor/good_host.h"

namespace plimsoll::doctor {
namespace {

std::vector<std::string> Names(const std::vector<Check>& checks) {
  std::vector<std::string> names;
  for (const Check& check : checks)
    names.push_back(check.name);
  return names;
}

TEST(Judge, SaysYesToEverythingOnAGoodHost) {
  for (const Check& check : Judge(GoodHost())) {
    EXPECT_EQ(check.answer, Answer::kYes) << check.name << ": " << check.found;
    EXPECT_TRUE(check.cures.empty()) << check.name;
    EXPECT_FALSE(check.found.empty()) << check.name;
  }
}

TEST(Judge, HasTheSameChecksInTheSameOrderWhateverWasFound) {
  const std::vector<std::string> expected = {"kernel",
                                             "machine",
                                             "user-namespaces",
                                             "namespaces",
                                             "proc",
                                             "seccomp",
                                             "landlock",
                                             "executable-memfd",
                                             "overlay",
                                             "cgroup",
                                             "limits",
                                             "store",
                                             "guest",
                                             "groups",
                                             "run"};
  EXPECT_EQ(Names(Judge(GoodHost())), expected);
  EXPECT_EQ(Names(Judge(WithoutUserNamespaces(EPERM))), expected);
}

TEST(Judge, NamesTheGuestOfAnOrdinaryUser) {
  EXPECT_EQ(CheckOf(GoodHost(), "guest").found,
            "on the host the guest is uid 1001, gid 1001, as you are; it has no capability");
}

TEST(Judge, SaysWhomTheGuestOfRootIs) {
  Findings findings = GoodHost();
  findings.surroundings.is_root = true;
  findings.host.uid = 65534;
  findings.host.gid = 65534;
  EXPECT_EQ(CheckOf(findings, "guest").found,
            "root gives its ids up before it clones: on the host the guest is uid 65534, gid "
            "65534; --host-user names another");
}

TEST(Judge, WarnsOfSupplementaryGroupsByName) {
  Findings findings = GoodHost();
  findings.surroundings.groups = {"adm", "docker"};
  const Check check = CheckOf(findings, "groups");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.found,
            "the guest keeps your supplementary groups (adm, docker): in a volume it may use what "
            "they may use");
  EXPECT_EQ(check.cures.size(), 1U);
}

TEST(Judge, PassesTheErrorAndTheHintOfTheRealRunOn) {
  Findings findings = GoodHost();
  findings.run_error =
      Error{.kind = ErrorKind::kHost, .what = "step 7", .hint = "do this", .sys_errno = EPERM};
  const Check check = CheckOf(findings, "run");
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found, "step 7: Operation not permitted (EPERM)");
  EXPECT_EQ(check.cures, std::vector<std::string>{"do this"});
}

TEST(Works, IsTrueWhenThingsAreOnlyWeaker) {
  Findings findings = GoodHost();
  findings.cgroup = {};
  findings.host.landlock_abi = 0;
  EXPECT_TRUE(Works(Judge(findings)));
}

TEST(Works, IsFalseWhenTheRealRunFailed) {
  Findings findings = GoodHost();
  findings.run_error = Error{.kind = ErrorKind::kHost, .what = "step 7"};
  EXPECT_FALSE(Works(Judge(findings)));
}

}  // namespace
}  // namespace plimsoll::doctor
