#include "policy/bpf.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>

#include "policy/interpret.h"

namespace plimsoll::policy {
namespace {

constexpr std::size_t kNumber = offsetof(seccomp_data, nr);

// "number == 1" decides between two returns with `between` instructions in front of them.
Result<Program> TwoReturns(std::size_t between) {
  Assembler assembler;
  const Assembler::Label one = assembler.NewLabel();
  const Assembler::Label other = assembler.NewLabel();
  assembler.Load(kNumber);
  assembler.If(Jump::kEqual, 1, one, other);
  for (std::size_t i = 0; i < between; ++i)
    assembler.Load(kNumber);
  assembler.Place(one);
  assembler.Return(SECCOMP_RET_ALLOW);
  assembler.Place(other);
  assembler.Return(SECCOMP_RET_KILL_PROCESS);
  return assembler.Finish();
}

TEST(Assembler, JumpsReachTheirLabelsAtEveryDistance) {
  for (const std::size_t between : {0U, 1U, 253U, 254U, 255U, 256U, 257U, 3000U}) {
    const auto program = TwoReturns(between);
    ASSERT_TRUE(program.has_value()) << between;
    const auto one = Interpret(*program, Call(1));
    const auto other = Interpret(*program, Call(2));
    ASSERT_TRUE(one && other) << between;
    EXPECT_EQ(one->action, SECCOMP_RET_ALLOW) << between;
    EXPECT_EQ(other->action, SECCOMP_RET_KILL_PROCESS) << between;
  }
}

TEST(Assembler, UsesOneInstructionForAJumpThatReaches) {
  EXPECT_EQ(TwoReturns(254)->size(), 254 + 4);
  EXPECT_EQ(TwoReturns(255)->size(), 255 + 6) << "the second label is 256 instructions away";
}

TEST(Assembler, JumpsGrowWhenOtherJumpsBetweenThemAndTheirLabelsGrow) {
  Assembler assembler;
  const Assembler::Label near = assembler.NewLabel();
  const Assembler::Label far = assembler.NewLabel();
  // The first jump reaches `near` as long as the second one, which needs the long form, is short.
  assembler.Load(kNumber);
  assembler.If(Jump::kEqual, 1, near, near);
  assembler.If(Jump::kEqual, 2, far, near);
  for (int i = 0; i < 254; ++i)
    assembler.Load(kNumber);
  assembler.Place(near);
  assembler.Return(SECCOMP_RET_ALLOW);
  for (int i = 0; i < 9; ++i)
    assembler.Load(kNumber);
  assembler.Place(far);
  assembler.Return(SECCOMP_RET_KILL_PROCESS);
  const auto program = assembler.Finish();
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(Interpret(*program, Call(1))->action, SECCOMP_RET_ALLOW);
  EXPECT_EQ(Interpret(*program, Call(7))->action, SECCOMP_RET_ALLOW);
}

TEST(Assembler, RefusesMoreThanTheKernelTakes) {
  EXPECT_EQ(TwoReturns(4090)->size(), 4096);
  const auto program = TwoReturns(4091);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().kind, ErrorKind::kCapacity);
  EXPECT_EQ(program.error().what, "the filter needs 4097 instructions, the kernel takes 4096");
}

TEST(Bytes, AreEightForEachInstruction) {
  const Program program = {{BPF_RET | BPF_K, 1, 2, 0x7fff0000}};
  EXPECT_EQ(Bytes(program), std::string_view("\x06\x00\x01\x02\x00\x00\xff\x7f", 8));
}

}  // namespace
}  // namespace plimsoll::policy
