#include "policy/program.h"

#include <gtest/gtest.h>
#include <linux/audit.h>

#include <cerrno>
#include <random>
#include <set>

#include "policy/interpret.h"

namespace plimsoll::policy {
namespace {

constexpr std::uint64_t kHigh = std::uint64_t{1} << 32U;

// The program's answer; fails the test when there is none.
std::uint32_t Answer(const Program& program, const seccomp_data& data) {
  const auto answer = Interpret(program, data);
  EXPECT_TRUE(answer.has_value()) << "number " << data.nr;
  return answer ? answer->action : 0;
}

Program Emit(const Verdicts& verdicts) {
  auto program = EmitProgram(verdicts);
  EXPECT_TRUE(program.has_value());
  return program ? *program : Program{};
}

// Call 7 is decided by `decision`, the rest is refused.
Program EmitFor7(const Decision& decision) {
  Verdicts verdicts(Decision{.otherwise = Refuse(ENOSYS)});
  verdicts.Set(7, decision);
  return Emit(verdicts);
}

TEST(EmitProgram, FindsTheDecisionOfEveryNumberInRandomTables) {
  std::mt19937 random(20);
  for (int table = 0; table < 60; ++table) {
    Verdicts verdicts(Decision{.otherwise = Refuse(EPERM)});
    const std::size_t ranges = random() % 80;
    for (std::size_t i = 0; i < ranges; ++i) {
      const auto first = static_cast<std::uint32_t>(random() % 600);
      const auto width = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 40 : 0);
      verdicts.Set(first, first + width, {.otherwise = Refuse(static_cast<int>(random() % 4))});
    }
    const Program program = Emit(verdicts);
    for (std::uint32_t number = 0; number < 700; ++number) {
      ASSERT_EQ(Answer(program, Call(number)), verdicts.At(number).otherwise)
          << "table " << table << ", number " << number;
    }
  }
}

TEST(EmitProgram, FindsTheDecisionWhenTheTreeIsLongerThanAJump) {
  Verdicts verdicts(Decision{.otherwise = SECCOMP_RET_ALLOW});
  for (std::uint32_t number = 0; number < 400; number += 2) {
    verdicts.Set(number * 3, number * 3 + 2, {.otherwise = Refuse(static_cast<int>(number))});
  }
  const Program program = Emit(verdicts);
  EXPECT_GT(program.size(), 400);
  for (std::uint32_t number = 0; number < 1300; ++number) {
    ASSERT_EQ(Answer(program, Call(number)), verdicts.At(number).otherwise) << number;
  }
}

TEST(EmitProgram, NeedsNoComparisonWhenAllNumbersHaveOneDecision) {
  const Program program = Emit(Verdicts(Decision{.otherwise = Refuse(ENOSYS)}));
  EXPECT_EQ(Answer(program, Call(0)), Refuse(ENOSYS));
  EXPECT_EQ(Answer(program, Call(UINT32_MAX)), Refuse(ENOSYS));
}

TEST(EmitProgram, PicksOutASingleNumberWithOneComparison) {
  Verdicts verdicts(Decision{.otherwise = SECCOMP_RET_ALLOW});
  verdicts.Set(10, {.otherwise = Refuse(EPERM)});
  // The architecture is two instructions and the number one, then a comparison and two returns.
  EXPECT_EQ(Emit(verdicts).size(), 6);
}

TEST(EmitProgram, RefusesEveryForeignArchitectureBeforeItLooksAtTheNumber) {
  const Program program = Emit(Verdicts(Decision{.otherwise = SECCOMP_RET_ALLOW}));
  for (const std::uint32_t arch :
       {std::uint32_t{AUDIT_ARCH_I386}, std::uint32_t{AUDIT_ARCH_AARCH64},
        std::uint32_t{AUDIT_ARCH_ARM}, 0U, UINT32_MAX}) {
    for (std::uint32_t number = 0; number < 500; ++number) {
      seccomp_data data = Call(number);
      data.arch = arch;
      ASSERT_EQ(Answer(program, data), Refuse(EPERM)) << arch << " " << number;
    }
  }
}

TEST(EmitProgram, ComparesBothHalvesOfEveryArgument) {
  const std::uint64_t values[] = {0,         1,         5,         kHigh - 1, kHigh,
                                  kHigh + 1, kHigh + 5, 5 * kHigh, UINT64_MAX};
  for (const Comparison comparison :
       {Comparison::kEqual, Comparison::kGreater, Comparison::kGreaterOrEqual}) {
    for (const bool negated : {false, true}) {
      for (unsigned index = 0; index < 6; ++index) {
        for (const std::uint64_t value : values) {
          Verdicts verdicts(Decision{.rules = {{.tests = {{.index = index,
                                                           .comparison = comparison,
                                                           .value = value,
                                                           .negated = negated}},
                                                .action = SECCOMP_RET_ALLOW}},
                                     .otherwise = Refuse(EPERM)});
          const Program program = Emit(verdicts);
          for (const std::uint64_t argument : values) {
            seccomp_data data = Call(7, {9, 9, 9, 9, 9, 9});
            data.args[index] = argument;
            ASSERT_EQ(Answer(program, data), Decide(verdicts, data))
                << static_cast<int>(comparison) << (negated ? " negated " : " ") << value << " "
                << argument;
          }
        }
      }
    }
  }
}

TEST(EmitProgram, ComparesOnlyTheBitsOfTheMask) {
  const std::uint64_t masks[] = {0, 0xffffffff, 0xf0, 0xf000000000, 0xf0000000f0, UINT64_MAX};
  const std::uint64_t words[] = {0, 0x10, 0x1000000000, 0x1000000010, 0x1f, 0xffffffffffffffff};
  for (const std::uint64_t mask : masks) {
    for (const std::uint64_t word : words) {
      Verdicts verdicts(
          Decision{.rules = {{.tests = {{.index = 2, .value = word & mask, .mask = mask}},
                              .action = SECCOMP_RET_ALLOW}},
                   .otherwise = Refuse(EPERM)});
      const Program program = Emit(verdicts);
      for (const std::uint64_t argument : words) {
        const seccomp_data data = Call(7, {0, 0, argument});
        ASSERT_EQ(Answer(program, data), Decide(verdicts, data))
            << std::hex << mask << " " << word << " " << argument;
      }
    }
  }
}

TEST(EmitProgram, ARuleHoldsOnlyWhenAllItsTestsDo) {
  const Program program = EmitFor7(
      {.rules = {{.tests = {{.index = 0, .value = 2}, {.index = 1, .value = 3, .negated = true}},
                  .action = SECCOMP_RET_ALLOW}},
       .otherwise = Refuse(EPERM)});
  EXPECT_EQ(Answer(program, Call(7, {2, 4})), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(program, Call(7, {2, 3})), Refuse(EPERM));
  EXPECT_EQ(Answer(program, Call(7, {1, 4})), Refuse(EPERM));
  EXPECT_EQ(Answer(program, Call(8, {2, 4})), Refuse(ENOSYS)) << "another call's rule";
}

TEST(EmitProgram, TheFirstRuleThatHoldsDecides) {
  const Program program =
      EmitFor7({.rules = {{.tests = {{.index = 0, .value = 1}}, .action = Refuse(EACCES)},
                          {.tests = {{.index = 1, .value = 1}}, .action = Refuse(EBUSY)},
                          {.tests = {}, .action = Refuse(EIO)}},
                .otherwise = SECCOMP_RET_ALLOW});
  EXPECT_EQ(Answer(program, Call(7, {1, 1})), Refuse(EACCES));
  EXPECT_EQ(Answer(program, Call(7, {0, 1})), Refuse(EBUSY));
  EXPECT_EQ(Answer(program, Call(7, {0, 0})), Refuse(EIO)) << "a rule without tests always holds";
}

TEST(EmitProgram, EqualDecisionsShareTheirInstructions) {
  const Decision decision{.rules = {{.tests = {{.index = 0, .value = 1}}, .action = Refuse(EIO)}}};
  Verdicts two(Decision{});
  two.Set(7, decision);
  const std::size_t with_one = Emit(two).size();
  two.Set(9, decision);
  EXPECT_LE(Emit(two).size(), with_one + 2) << "comparing the argument takes four instructions";
}

TEST(EmitProgram, HasOnlyInstructionsThatTheKernelFollowsForItsBitmap) {
  const std::set<std::uint16_t> followed = {BPF_LD | BPF_W | BPF_ABS,  BPF_JMP | BPF_JA,
                                            BPF_JMP | BPF_JEQ | BPF_K, BPF_JMP | BPF_JGE | BPF_K,
                                            BPF_JMP | BPF_JGT | BPF_K, BPF_JMP | BPF_JSET | BPF_K,
                                            BPF_ALU | BPF_AND | BPF_K, BPF_RET | BPF_K};
  const Program program =
      EmitFor7({.rules = {{.tests = {{.index = 0, .value = 16, .mask = 0xf0},
                                     {.index = 1, .comparison = Comparison::kGreater, .value = 4},
                                     {.index = 2, .mask = 0xf000}},
                           .action = Refuse(EIO)}}});
  for (const sock_filter& op : program)
    EXPECT_TRUE(followed.contains(op.code)) << op.code;
}

}  // namespace
}  // namespace plimsoll::policy
