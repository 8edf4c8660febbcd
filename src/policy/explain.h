// What a policy says of a system call, and which rule says it.
//
// The answer is the compiled program's, interpreted; the rule is found by evaluating guard and
// profile one after the other, and must give the same answer.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "policy/source.h"

namespace plimsoll::policy {

enum class DecidedBy { kGuard, kRule, kDefault };

struct Explanation {
  std::uint32_t number = 0;
  std::string call;  // empty for a number without a name
  std::array<std::uint64_t, 6> arguments = {};
  std::uint32_t action = 0;  // SECCOMP_RET_*
  DecidedBy decided_by = DecidedBy::kDefault;
  std::string tests = {};   // of the deciding rule; empty: it has none
  std::string reason = {};  // the guard's, or the comment of the profile's rule
};

// Error: kHost when program and rules disagree, which is a mistake of ours.
Result<Explanation> Explain(const Policy& policy, const Source& source, std::uint32_t number,
                            const std::array<std::uint64_t, 6>& arguments);

// One line of the answer to "what of this call?", in the order in which they are looked at.
struct Possibility {
  std::string tests;  // empty: in every other case
  std::uint32_t action = 0;
  DecidedBy decided_by = DecidedBy::kDefault;
  std::string reason;
};

// All that the policy can answer to this call; one possibility when arguments do not matter. Error:
// kProtocol, see VerdictsOf.
Result<std::vector<Possibility>> Possibilities(const Source& source, std::uint32_t number);

}  // namespace plimsoll::policy
