// The program of a learning run: the policy's own, but that a refusal is first told.

#include <asm/unistd.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <string>

#include "policy/interpret.h"
#include "policy/policy.h"
#include "policy/program.h"
#include "unit/policy/policies.h"

namespace plimsoll::policy {
namespace {

Program Learning(std::span<const sock_filter> program) {
  auto learning = LearningProgram(program);
  EXPECT_TRUE(learning.has_value());
  return learning ? *std::move(learning) : Program{};
}

// What the learning program must answer where the policy answers `action`.
std::uint32_t Told(std::uint32_t action) {
  const bool is_errno = (action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
  return is_errno ? SECCOMP_RET_USER_NOTIF : action;
}

TEST(LearningProgram, ChangesOnlyWhatIsReturnedAndOnlyWhereThatIsAnErrno) {
  for (const bool writable_volume : {false, true}) {
    const Policy policy = Shipped({.writable_volume = writable_volume});
    const Program learning = Learning(policy.program);
    ASSERT_EQ(learning.size(), policy.program.size());
    for (std::size_t i = 0; i < learning.size(); ++i) {
      const sock_filter& before = policy.program[i];
      EXPECT_EQ(learning[i].code, before.code);
      EXPECT_EQ(learning[i].jt, before.jt);
      EXPECT_EQ(learning[i].jf, before.jf);
      const bool is_return = before.code == (BPF_RET | BPF_K);
      EXPECT_EQ(learning[i].k, is_return ? Told(before.k) : before.k);
    }
  }
}

TEST(LearningProgram, TellsOfEveryRefusedCallAndOfNoOther) {
  const Policy policy = Shipped();
  const Program learning = Learning(policy.program);
  for (const auto arch : {std::uint32_t{AUDIT_ARCH_X86_64}, std::uint32_t{AUDIT_ARCH_I386}}) {
    for (std::uint32_t number = 0; number < 600; ++number) {
      for (const std::uint64_t value : {0UL, 1UL, ~0UL}) {
        seccomp_data call = Call(number, {value, value, value});
        call.arch = arch;
        EXPECT_EQ(Interpret(learning, call)->action, Told(Interpret(policy.program, call)->action))
            << number;
      }
    }
  }
}

TEST(LearningProgram, LeavesActionsThatAreNoErrno) {
  Verdicts verdicts(Decision{.otherwise = SECCOMP_RET_ALLOW});
  verdicts.Set(400, {.otherwise = SECCOMP_RET_KILL_PROCESS});
  verdicts.Set(401, {.otherwise = SECCOMP_RET_TRAP});
  verdicts.Set(402, {.otherwise = SECCOMP_RET_LOG});
  const Program program = *EmitProgram(verdicts);
  const Program learning = Learning(program);
  for (std::uint32_t number = 399; number < 404; ++number) {
    EXPECT_EQ(Interpret(learning, Call(number))->action, Interpret(program, Call(number))->action);
  }
}

TEST(LearningProgram, IsRefusedForAPolicyUnderWhichNoCommandCanStart) {
  constexpr std::uint32_t kNeeded[] = {__NR_execve, __NR_mmap, __NR_rt_sigprocmask, __NR_statx};
  for (const std::uint32_t number : kNeeded) {
    Verdicts verdicts(Decision{.otherwise = SECCOMP_RET_ALLOW});
    verdicts.Set(number, {.otherwise = Refuse(EPERM)});
    const auto learning = LearningProgram(*EmitProgram(verdicts));
    ASSERT_FALSE(learning.has_value()) << number;
    EXPECT_EQ(learning.error().kind, ErrorKind::kRequest);
  }
  const auto learning = LearningProgram(*EmitProgram(Verdicts(Decision{.otherwise = Refuse(1)})));
  ASSERT_FALSE(learning.has_value());
}

}  // namespace
}  // namespace plimsoll::policy
