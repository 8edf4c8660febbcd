#include "policy/interpret.h"

#include <linux/audit.h>

#include <algorithm>
#include <cstring>

namespace plimsoll::policy {

namespace {

// Whether the jump is taken; nothing for an unknown comparison.
std::optional<bool> Compare(std::uint16_t code, std::uint32_t accumulator, std::uint32_t operand) {
  switch (BPF_OP(code)) {
    case BPF_JEQ:
      return accumulator == operand;
    case BPF_JGT:
      return accumulator > operand;
    case BPF_JGE:
      return accumulator >= operand;
    case BPF_JSET:
      return (accumulator & operand) != 0;
    default:
      return std::nullopt;
  }
}

std::optional<std::uint32_t> LoadWord(const seccomp_data& data, std::uint32_t offset) {
  std::uint32_t word = 0;
  if (offset % sizeof word != 0 || offset > sizeof data - sizeof word) return std::nullopt;
  std::memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
  return word;
}

bool Holds(const ArgTest& test, const seccomp_data& data) {
  const std::uint64_t argument = data.args[test.index] & test.mask;
  switch (test.comparison) {
    case Comparison::kEqual:
      return (argument == test.value) != test.negated;
    case Comparison::kGreater:
      return (argument > test.value) != test.negated;
    case Comparison::kGreaterOrEqual:
      return (argument >= test.value) != test.negated;
  }
  return false;
}

}  // namespace

std::optional<FilterAnswer> Interpret(std::span<const sock_filter> program,
                                      const seccomp_data& data) {
  FilterAnswer answer;
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& op = program[at];
    ++answer.steps;
    if (op.code == (BPF_RET | BPF_K)) {
      answer.action = op.k;
      return answer;
    }
    if (op.code == (BPF_LD | BPF_W | BPF_ABS)) {
      const auto word = LoadWord(data, op.k);
      if (!word) return std::nullopt;
      accumulator = *word;
      answer.reads_arguments |= op.k >= offsetof(seccomp_data, instruction_pointer);
      if (op.k >= offsetof(seccomp_data, args)) {
        answer.arguments_read[(op.k - offsetof(seccomp_data, args)) / sizeof data.args[0]] = true;
      }
    } else if (op.code == (BPF_ALU | BPF_AND | BPF_K)) {
      accumulator &= op.k;
    } else if (op.code == (BPF_JMP | BPF_JA)) {
      at += op.k;
    } else {
      const auto taken = Compare(op.code, accumulator, op.k);
      if (BPF_CLASS(op.code) != BPF_JMP || BPF_SRC(op.code) != BPF_K || !taken) return std::nullopt;
      at += *taken ? op.jt : op.jf;
    }
  }
  return std::nullopt;
}

const Rule* DecidingRule(const Verdicts& verdicts, const seccomp_data& data) {
  for (const Rule& rule : verdicts.At(static_cast<std::uint32_t>(data.nr)).rules) {
    const bool holds = std::all_of(rule.tests.begin(), rule.tests.end(),
                                   [&](const ArgTest& test) { return Holds(test, data); });
    if (holds) return &rule;
  }
  return nullptr;
}

std::uint32_t Decide(const Verdicts& verdicts, const seccomp_data& data) {
  const Rule* rule = DecidingRule(verdicts, data);
  return rule != nullptr ? rule->action
                         : verdicts.At(static_cast<std::uint32_t>(data.nr)).otherwise;
}

bool IsNative(const seccomp_data& data) {
  return data.arch == AUDIT_ARCH_X86_64;
}

seccomp_data Call(std::uint32_t number, std::array<std::uint64_t, 6> arguments) {
  seccomp_data data{};
  data.nr = static_cast<int>(number);
  data.arch = AUDIT_ARCH_X86_64;
  std::copy(arguments.begin(), arguments.end(), data.args);
  return data;
}

}  // namespace plimsoll::policy
