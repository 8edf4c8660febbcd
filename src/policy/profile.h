// A seccomp profile in the container engines' JSON form, as policy/default.json is written.
//
// Read strictly: what is not understood is refused, never skipped, since a skipped member could be
// the one that forbids something. Form: the runtime specification's Linux seccomp section, with
// the engines' archMap in place of a list of architectures.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "policy/verdicts.h"

namespace plimsoll::policy {

// One entry of "syscalls": the action for each of the named calls when all tests hold.
struct ProfileEntry {
  std::vector<std::string> names;
  Rule rule;
};

struct Profile {
  std::uint32_t default_action;  // SECCOMP_RET_*
  std::vector<ProfileEntry> entries;
};

// Parses the text of a profile, which messages call `name`. Known: the actions SCMP_ACT_ALLOW and
// SCMP_ACT_ERRNO (errno 1 unless given), all comparisons, comments. Sub-architectures are read and
// have no effect: the filter refuses every architecture but x86-64 itself.
//
// Errors: kProtocol with the place; kUnsupported for a profile without rules for x86-64.
Result<Profile> ParseProfile(std::string_view text, std::string_view name);

// The number of a system call on x86-64; nothing when only other architectures have it; an error
// when no architecture has a call of that name.
using CallNumber = std::function<Result<std::optional<std::uint32_t>>(const std::string& name)>;

// The profile's verdicts. Of several conditional rules for one call the first that holds decides;
// the rule without conditions decides when none does.
//
// Errors: those of `number_of`; kProtocol when two rules without conditions disagree about a call,
// and when conditions can change nothing, since the call has that action without them: such a rule
// reads as a restriction and is none.
Result<Verdicts> ToVerdicts(const Profile& profile, const CallNumber& number_of);

}  // namespace plimsoll::policy
