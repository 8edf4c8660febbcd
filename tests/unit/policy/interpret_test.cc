// The interpreter's own rules: what it takes, what it reports, and what it does not answer.

#include "policy/interpret.h"

#include <gtest/gtest.h>
#include <linux/audit.h>

#include <cerrno>
#include <cstddef>

#include "policy/bpf.h"

namespace plimsoll::policy {
namespace {

constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
constexpr std::uint32_t kArguments = offsetof(seccomp_data, args);

const sock_filter kAllow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

sock_filter Load(std::uint32_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}

TEST(Interpret, CountsTheInstructionsThatRan) {
  const Program program = {Load(kNumber), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 1, 0),
                           kAllow,        BPF_STMT(BPF_JMP | BPF_JA, 1),
                           kAllow,        BPF_STMT(BPF_RET | BPF_K, Refuse(EPERM))};
  EXPECT_EQ(Interpret(program, Call(6))->steps, 3);
  EXPECT_EQ(Interpret(program, Call(6))->action, SECCOMP_RET_ALLOW);
  EXPECT_EQ(Interpret(program, Call(7))->steps, 4);
  EXPECT_EQ(Interpret(program, Call(7))->action, Refuse(EPERM));
}

TEST(Interpret, TellsWhichArgumentsWereRead) {
  const Program program = {Load(kNumber), Load(kArguments + 8), Load(kArguments + 44), kAllow};
  const auto answer = Interpret(program, Call(1));
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->reads_arguments);
  EXPECT_EQ(answer->arguments_read, (std::array<bool, 6>{false, true, false, false, false, true}));
  EXPECT_FALSE(Interpret({{Load(kNumber), kAllow}}, Call(1))->reads_arguments);
}

TEST(Interpret, ALoadGivesTheLowHalfFirst) {
  for (const std::uint32_t half : {0U, 4U}) {
    const Program program = {Load(kArguments + half), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 5, 0, 1),
                             kAllow, BPF_STMT(BPF_RET | BPF_K, Refuse(EPERM))};
    EXPECT_EQ(Interpret(program, Call(0, {half == 0 ? 5UL : 5UL << 32U}))->action,
              SECCOMP_RET_ALLOW);
    EXPECT_EQ(Interpret(program, Call(0, {half == 0 ? 5UL << 32U : 5UL}))->action, Refuse(EPERM));
  }
}

TEST(Interpret, AnswersNothingForAProgramThatTheKernelWouldNotTake) {
  const sock_filter jump = BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX);
  for (const Program& program :
       {Program{}, Program{Load(kNumber)}, Program{Load(sizeof(seccomp_data)), kAllow},
        Program{Load(2), kAllow}, Program{Load(UINT32_MAX - 3), kAllow}, Program{jump, kAllow},
        Program{BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 9, 9), kAllow},
        Program{BPF_STMT(BPF_ST, 0), kAllow}, Program{BPF_STMT(BPF_RET | BPF_A, 0)},
        Program{BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), kAllow},
        Program{BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1), kAllow},
        Program{BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 0), kAllow}}) {
    EXPECT_FALSE(Interpret(program, Call(0)).has_value()) << program.size();
  }
}

TEST(Call, IsOfTheNativeArchitecture) {
  seccomp_data call = Call(0xffffffff, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(call.nr, -1);
  EXPECT_EQ(call.args[5], 6);
  EXPECT_TRUE(IsNative(call));
  call.arch = AUDIT_ARCH_I386;
  EXPECT_FALSE(IsNative(call));
}

TEST(DecidingRule, IsTheFirstThatHoldsOrNone) {
  Verdicts verdicts(Decision{.rules = {{.tests = {{.index = 0, .value = 1}}, .action = Refuse(1)},
                                       {.tests = {{.index = 1, .value = 1}}, .action = Refuse(2)}},
                             .otherwise = Refuse(3)});
  EXPECT_EQ(DecidingRule(verdicts, Call(0, {1, 1}))->action, Refuse(1));
  EXPECT_EQ(DecidingRule(verdicts, Call(0, {0, 1}))->action, Refuse(2));
  EXPECT_EQ(DecidingRule(verdicts, Call(0, {0, 0})), nullptr);
  EXPECT_EQ(Decide(verdicts, Call(0, {0, 0})), Refuse(3));
}

}  // namespace
}  // namespace plimsoll::policy
