// Filter programs of the classic BPF machine, as far as seccomp(2) needs it: instructions by name,
// jumps to labels.
//
// Only what the kernel follows when it works out which system calls a program always allows (its
// "constant allow" bitmap): loads of a word, AND with a constant, jumps against a constant, and
// returns. A program of these costs an allowed system call nothing once it is loaded.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace plimsoll::policy {

using Program = std::vector<sock_filter>;

// The bytes that seccomp(2) is given: 8 for each instruction, in the machine's byte order.
std::string_view Bytes(const Program& program);

// When a conditional jump goes to its first label. The operand is a constant, unsigned.
enum class Jump : std::uint16_t {
  kEqual = BPF_JMP | BPF_JEQ | BPF_K,
  kGreater = BPF_JMP | BPF_JGT | BPF_K,
  kGreaterOrEqual = BPF_JMP | BPF_JGE | BPF_K,
  kAnyBitSet = BPF_JMP | BPF_JSET | BPF_K,
};

// Collects instructions in order. A label is used before it is placed, or never placed twice: the
// machine jumps forward only.
class Assembler {
 public:
  using Label = std::size_t;

  Label NewLabel();
  void Place(Label label);  // at the next instruction

  void Load(std::size_t offset);  // the word at `offset` of seccomp_data, into the accumulator
  void And(std::uint32_t mask);
  void If(Jump condition, std::uint32_t operand, Label then, Label otherwise);
  void GoTo(Label label);
  void Return(std::uint32_t action);  // SECCOMP_RET_*

  // The program. A conditional jump reaches 255 instructions; farther ones get two unconditional
  // jumps behind them. Error: kCapacity above the kernel's limit of 4096 instructions.
  Result<Program> Finish() const;

 private:
  struct Item {
    std::uint16_t code;
    std::uint32_t operand;
    Label then = 0;  // of conditional jumps; GoTo uses `then` alone
    Label otherwise = 0;
  };
  struct Layout;

  bool Grow(Layout& layout) const;

  std::vector<Item> items_;
  std::vector<std::size_t> places_;  // label: index of an item
};

}  // namespace plimsoll::policy
