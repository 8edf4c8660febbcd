// Runs filter programs without a kernel, and verdicts without a program: two ways to one answer.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "policy/verdicts.h"

namespace plimsoll::policy {

struct FilterAnswer {
  std::uint32_t action = 0;      // SECCOMP_RET_*
  std::size_t steps = 0;         // instructions that ran
  bool reads_arguments = false;  // such a call is not in the kernel's "always allowed" bitmap
  std::array<bool, 6> arguments_read = {};  // which, in whole or in half
};

// What `program` answers, by seccomp(2) and the kernel's rules for filters. Nothing when it breaks
// one: an instruction that is not known here (loads, AND, jumps and returns with constants are), a
// load outside the data, a jump beyond the end.
std::optional<FilterAnswer> Interpret(std::span<const sock_filter> program,
                                      const seccomp_data& data);

// The rule that decides an x86-64 call by `verdicts`; null when none of its conditions hold.
const Rule* DecidingRule(const Verdicts& verdicts, const seccomp_data& data);

// What `verdicts` says of it.
std::uint32_t Decide(const Verdicts& verdicts, const seccomp_data& data);

// Whether the call came by the gate of x86-64, whose numbers the names are of.
bool IsNative(const seccomp_data& data);

// An x86-64 call.
seccomp_data Call(std::uint32_t number, std::array<std::uint64_t, 6> arguments = {});

}  // namespace plimsoll::policy
