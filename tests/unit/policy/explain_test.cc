// What decides a call: each kind of decider, and that explanation, rules and program agree.

#include "policy/explain.h"

#include <asm/unistd.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>

#include "policy/guard.h"
#include "policy/interpret.h"
#include "unit/policy/policies.h"

namespace plimsoll::policy {
namespace {

constexpr std::uint64_t kHigh = std::uint64_t{1} << 32U;

Policy Compiled(const Source& source) {
  auto policy = Compile(source);
  if (policy) return *std::move(policy);
  ADD_FAILURE() << policy.error().Message();
  return {};
}

Explanation Explained(const Source& source, std::uint32_t number, const Arguments& arguments) {
  auto explanation = Explain(Compiled(source), source, number, arguments);
  if (explanation) return *std::move(explanation);
  ADD_FAILURE() << explanation.error().Message();
  return {};
}

TEST(Explain, NamesTheGuardAndItsReasonForACallThatNoProfileCanAllow) {
  const Explanation e = Explained(SourceOf({}), __NR_ptrace, {});
  EXPECT_EQ(e.call, "ptrace");
  EXPECT_EQ(e.number, __NR_ptrace);
  EXPECT_EQ(e.action, Refuse(EPERM));
  EXPECT_EQ(e.decided_by, DecidedBy::kGuard);
  EXPECT_EQ(e.tests, "");
  EXPECT_EQ(e.reason, "other processes' memory and registers");
}

TEST(Explain, NamesTheGuardsConditionForArgumentsThatItRefuses) {
  const Explanation e = Explained(SourceOf({}), __NR_ioctl, {0, kHigh | TIOCSTI});
  EXPECT_EQ(e.action, Refuse(EPERM));
  EXPECT_EQ(e.decided_by, DecidedBy::kGuard);
  EXPECT_EQ(e.tests, "arg1 & 0xffffffff == 0x5412");
  EXPECT_FALSE(e.reason.empty());
  EXPECT_EQ(Explained(SourceOf({}), __NR_ioctl, {0, TIOCGWINSZ}).decided_by, DecidedBy::kRule);
}

TEST(Explain, NamesTheProfilesConditionAndItsComment) {
  const Explanation e = Explained(SourceOf({}), __NR_socket, {AF_UNIX, SOCK_STREAM});
  EXPECT_EQ(e.action, SECCOMP_RET_ALLOW);
  EXPECT_EQ(e.decided_by, DecidedBy::kRule);
  EXPECT_EQ(e.tests, "arg0 == 1");
  EXPECT_EQ(e.reason, "Unix sockets (AF_UNIX is 1); every other family is a way out.");
}

TEST(Explain, NamesTheRuleWithoutConditionsAndItsComment) {
  const Explanation e = Explained(SourceOf({}), __NR_read, {1, 2, 3});
  EXPECT_EQ(e.action, SECCOMP_RET_ALLOW);
  EXPECT_EQ(e.decided_by, DecidedBy::kRule);
  EXPECT_EQ(e.tests, "");
  EXPECT_EQ(e.reason, "What ordinary programs, their libraries and language runtimes call.");
  EXPECT_EQ(e.arguments, (Arguments{1, 2, 3}));
}

TEST(Explain, NamesTheDefaultWhenNoRuleHolds) {
  const Explanation with_rules = Explained(SourceOf({}), __NR_socket, {AF_INET, SOCK_STREAM});
  EXPECT_EQ(with_rules.action, Refuse(EPERM));
  EXPECT_EQ(with_rules.decided_by, DecidedBy::kDefault);
  EXPECT_EQ(with_rules.tests, "");
  EXPECT_EQ(with_rules.reason, "");
  const Explanation without_rules = Explained(SourceOf({}), __NR_vhangup, {});
  EXPECT_EQ(without_rules.decided_by, DecidedBy::kDefault);
}

TEST(Explain, AWrittenRefusalIsARuleAndNotTheDefault) {
  const Source source = SourceOfText(
      ProfileText(R"({"names":["read"],"action":"SCMP_ACT_ERRNO","comment":"no reading"})"));
  const Explanation e = Explained(source, __NR_read, {});
  EXPECT_EQ(e.decided_by, DecidedBy::kRule);
  EXPECT_EQ(e.reason, "no reading");
}

TEST(Explain, GivesTheCommentOfTheDifferenceThatMadeTheRule) {
  const Explanation e = Explained(SourceOf({"sdk"}), __NR_setsockopt, {5, 6, 1});
  EXPECT_EQ(e.action, SECCOMP_RET_ALLOW);
  EXPECT_EQ(e.tests, "arg1 == 6, arg2 == 1");
  EXPECT_EQ(e.reason, "TCP_NODELAY: HTTP libraries send small requests at once.");
}

TEST(Explain, KnowsNumbersWithoutANameAndThoseOfOtherMachines) {
  for (const std::uint32_t number : {9999U, 0x40000000U + __NR_read, UINT32_MAX}) {
    const Explanation e = Explained(SourceOf({}), number, {});
    EXPECT_EQ(e.call, "");
    EXPECT_EQ(e.action, Refuse(ENOSYS));
    EXPECT_EQ(e.decided_by, DecidedBy::kGuard);
    EXPECT_EQ(e.reason, "a number beyond those that the guard's author could know");
  }
}

TEST(Explain, IsAnErrorWhenTheProgramIsNotThatOfTheRules) {
  const Policy plain = Compiled(SourceOf({}));
  const auto e = Explain(plain, SourceOf({"sdk"}), __NR_setsockopt, {0, 9, 9});
  ASSERT_FALSE(e.has_value());
  EXPECT_EQ(e.error().kind, ErrorKind::kHost);
}

// Each number with one of the high halves in turn; the next test has all of them.
TEST(Explain, IsTheProgramsAnswerForEveryNumber) {
  constexpr std::array<std::uint64_t, 3> kHighHalves = {0, kHigh, UINT64_MAX << 32U};
  for (const Names& names : DifferenceSets()) {
    const Source source = SourceOf(names);
    const Policy policy = Compiled(source);
    for (std::uint32_t number = 0; number < 500; ++number) {
      const std::uint64_t high = kHighHalves[number % kHighHalves.size()];
      const Arguments arguments = {high | 1, high | 1, high, high, high, high};
      const auto e = Explain(policy, source, number, arguments);
      ASSERT_TRUE(e.has_value()) << e.error().Message();
      const auto answer = Interpret(policy.program, Call(number, arguments));
      ASSERT_TRUE(answer.has_value());
      ASSERT_EQ(e->action, answer->action) << number;
    }
  }
}

// The program against the rules, one after the other, as Explain takes them: much faster than it,
// and so with many more arguments, in every high half.
TEST(Explain, GuardAndProfileInTheirOrderAreTheProgramForArgumentsAroundEveryRule) {
  const Verdicts guard = Guard();
  for (const Names& names : DifferenceSets()) {
    const Source source = SourceOf(names);
    const Policy policy = Compiled(source);
    const Verdicts profile = VerdictsFor(source);
    for (std::uint32_t number = 0; number < 600; ++number) {
      std::set<Arguments> telling = TellingArguments(guard.At(number));
      telling.merge(TellingArguments(profile.At(number)));
      for (const std::uint64_t high : {std::uint64_t{0}, kHigh, UINT64_MAX << 32U})
        telling.insert({high | 1, high | 1, high, high, high, high});
      for (const Arguments& arguments : telling) {
        const seccomp_data call = Call(number, arguments);
        const std::uint32_t first = Decide(guard, call);
        ASSERT_EQ(Interpret(policy.program, call)->action,
                  first != SECCOMP_RET_ALLOW ? first : Decide(profile, call))
            << number;
      }
    }
  }
}

TEST(Possibilities, AreTheGuardsThenTheProfilesThenTheRest) {
  const auto found = Possibilities(SourceOf({}), __NR_clone);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 3);
  EXPECT_EQ(found->at(0).decided_by, DecidedBy::kGuard);
  EXPECT_EQ(found->at(0).tests, "arg0 & 0x7e020000 != 0");
  EXPECT_EQ(found->at(1).decided_by, DecidedBy::kRule);
  EXPECT_EQ(found->at(1).tests, "arg0 & 0x7e020000 == 0");
  EXPECT_EQ(found->at(1).action, SECCOMP_RET_ALLOW);
  EXPECT_EQ(found->at(2).decided_by, DecidedBy::kDefault);
  EXPECT_EQ(found->at(2).tests, "");
  EXPECT_EQ(found->at(2).action, Refuse(EPERM));
}

TEST(Possibilities, IsOneWhereArgumentsDoNotMatter) {
  const auto refused = Possibilities(SourceOf({}), __NR_ptrace);
  ASSERT_EQ(refused->size(), 1);
  EXPECT_EQ(refused->at(0).decided_by, DecidedBy::kGuard);
  const auto allowed = Possibilities(SourceOf({}), __NR_read);
  ASSERT_EQ(allowed->size(), 1);
  EXPECT_EQ(allowed->at(0).decided_by, DecidedBy::kRule);
  EXPECT_EQ(allowed->at(0).action, SECCOMP_RET_ALLOW);
}

}  // namespace
}  // namespace plimsoll::policy
