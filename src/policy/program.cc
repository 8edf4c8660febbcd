#include "policy/program.h"

#include <linux/audit.h>

#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "policy/search_tree.h"

namespace plimsoll::policy {

namespace {

using Label = Assembler::Label;

class ProgramWriter {
 public:
  Result<Program> Write(const Verdicts& verdicts) {
    const Label native = assembler_.NewLabel();
    assembler_.Load(offsetof(seccomp_data, arch));
    assembler_.If(Jump::kEqual, AUDIT_ARCH_X86_64, native, ReturnOf(Refuse(EPERM)));
    assembler_.Place(native);
    assembler_.Load(offsetof(seccomp_data, nr));
    std::vector<SearchRange> ranges;
    for (const auto& [first, decision] : verdicts.Ranges()) {
      ranges.push_back({.first = first, .target = LabelOf(decision)});
    }
    EmitSearch(ranges, assembler_);
    for (const auto& [decision, label] : decisions_) {
      assembler_.Place(label);
      WriteDecision(*decision);
    }
    for (const auto& [action, label] : returns_) {
      assembler_.Place(label);
      assembler_.Return(action);
    }
    return assembler_.Finish();
  }

 private:
  // Equal decisions share their instructions.
  Label LabelOf(const Decision& decision) {
    if (decision.rules.empty()) return ReturnOf(decision.otherwise);
    for (const auto& [known, label] : decisions_) {
      if (*known == decision) return label;
    }
    decisions_.emplace_back(&decision, assembler_.NewLabel());
    return decisions_.back().second;
  }

  Label ReturnOf(std::uint32_t action) {
    const auto known = returns_.find(action);
    if (known != returns_.end()) return known->second;
    return returns_.emplace(action, assembler_.NewLabel()).first->second;
  }

  void WriteDecision(const Decision& decision) {
    for (const Rule& rule : decision.rules) {
      const bool is_last = &rule == &decision.rules.back();
      const Label next = is_last ? ReturnOf(decision.otherwise) : assembler_.NewLabel();
      WriteRule(rule, next);
      if (!is_last) assembler_.Place(next);
    }
  }

  void WriteRule(const Rule& rule, Label next) {
    if (rule.tests.empty()) return assembler_.GoTo(ReturnOf(rule.action));
    for (const ArgTest& test : rule.tests) {
      const bool is_last = &test == &rule.tests.back();
      const Label holds = is_last ? ReturnOf(rule.action) : assembler_.NewLabel();
      WriteTest(test, test.negated ? next : holds, test.negated ? holds : next);
      if (!is_last) assembler_.Place(holds);
    }
  }

  // The high half decides unless it is equal, then the low half does. A half without bits in the
  // mask is equal by itself.
  void WriteTest(const ArgTest& test, Label holds, Label fails) {
    const std::size_t low = offsetof(seccomp_data, args) + 8 * std::size_t{test.index};
    const auto mask_high = static_cast<std::uint32_t>(test.mask >> 32U);
    const auto value_high = static_cast<std::uint32_t>(test.value >> 32U);
    const Label equal_so_far = assembler_.NewLabel();
    if (mask_high != 0) {
      assembler_.Load(low + 4);
      if (mask_high != UINT32_MAX) assembler_.And(mask_high);
      if (test.comparison != Comparison::kEqual) {
        const Label not_greater = assembler_.NewLabel();
        assembler_.If(Jump::kGreater, value_high, holds, not_greater);
        assembler_.Place(not_greater);
      }
      assembler_.If(Jump::kEqual, value_high, equal_so_far, fails);
    }
    assembler_.Place(equal_so_far);
    WriteLowHalf(test, low, holds, fails);
  }

  void WriteLowHalf(const ArgTest& test, std::size_t offset, Label holds, Label fails) {
    const auto mask = static_cast<std::uint32_t>(test.mask);
    const auto value = static_cast<std::uint32_t>(test.value);
    if (mask == 0) return assembler_.GoTo(holds);
    assembler_.Load(offset);
    if (test.comparison == Comparison::kGreater) {
      return assembler_.If(Jump::kGreater, value, holds, fails);
    }
    if (test.comparison == Comparison::kGreaterOrEqual) {
      return assembler_.If(Jump::kGreaterOrEqual, value, holds, fails);
    }
    if (value == 0 && mask != UINT32_MAX) {
      return assembler_.If(Jump::kAnyBitSet, mask, fails, holds);
    }
    if (mask != UINT32_MAX) assembler_.And(mask);
    assembler_.If(Jump::kEqual, value, holds, fails);
  }

  Assembler assembler_;
  std::vector<std::pair<const Decision*, Label>> decisions_;  // those with rules
  std::map<std::uint32_t, Label> returns_;
};

}  // namespace

Result<Program> EmitProgram(const Verdicts& verdicts) {
  return ProgramWriter().Write(verdicts);
}

}  // namespace plimsoll::policy
