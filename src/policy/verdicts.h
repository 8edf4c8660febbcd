// What a policy answers, as values: for every system call number the rules on its arguments.
//
// The guard and the profiles are both written as Verdicts; Stack() puts one before the other and
// EmitProgram() (program.h) makes the filter. Actions are the kernel's SECCOMP_RET_* words.
#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace plimsoll::policy {

// The action "fails with this errno, does nothing".
constexpr std::uint32_t Refuse(int number) {
  return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(number) & SECCOMP_RET_DATA);
}

enum class Comparison : std::uint8_t { kEqual, kGreater, kGreaterOrEqual };

// One condition: (argument `index` & mask) compared with `value`, unsigned, all 64 bits; `negated`
// turns the answer round. A mask of 0xffffffff is for arguments that the kernel itself cuts to 32
// bits. Only kEqual may have a mask.
struct ArgTest {
  unsigned index;  // 0 to 5
  Comparison comparison = Comparison::kEqual;
  std::uint64_t value = 0;
  std::uint64_t mask = UINT64_MAX;
  bool negated = false;

  bool operator==(const ArgTest&) const = default;
};

// The action, when all tests hold.
struct Rule {
  std::vector<ArgTest> tests;
  std::uint32_t action;

  bool operator==(const Rule&) const = default;
};

// The first rule that holds decides.
struct Decision {
  std::vector<Rule> rules = {};
  std::uint32_t otherwise = SECCOMP_RET_ALLOW;

  bool operator==(const Decision&) const = default;
};

// A decision for each number from 0 to 2^32 - 1, kept as ranges. The numbers are those of x86-64;
// other architectures have no verdicts, their calls are refused.
class Verdicts {
 public:
  explicit Verdicts(Decision for_all) { ranges_.emplace(0, std::move(for_all)); }

  // Replaces the decision for the numbers from `first` to `last`, both included.
  void Set(std::uint32_t first, std::uint32_t last, const Decision& decision);
  void Set(std::uint32_t number, const Decision& decision) { Set(number, number, decision); }

  const Decision& At(std::uint32_t number) const;

  // First number of each range: its decision. Neighbours differ; the first begins at 0.
  const std::map<std::uint32_t, Decision>& Ranges() const { return ranges_; }

 private:
  void Join(std::uint32_t first);

  std::map<std::uint32_t, Decision> ranges_;
};

// `guard` before `profile`: what the guard refuses is refused, all else is the profile's to decide.
// Every rule of the guard must be a refusal, so that none can let a call past the profile.
Verdicts Stack(const Verdicts& guard, const Verdicts& profile);

}  // namespace plimsoll::policy
