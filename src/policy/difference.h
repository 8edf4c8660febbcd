// A difference: what a run's request changes in its profile (policy/sdk.json,
// policy/rw-volume.json).
//
// A JSON object with a "comment" and lists. "restrict": calls and conditions ("args"); where the
// profile allows such a call, it is allowed only when these hold too. Several entries for one call
// are alternatives. "refuse", which may be absent: entries as a profile has them, with
// SCMP_ACT_ERRNO and no conditions; where the profile allows such a call, that is its answer now.
// "allow": entries as a profile has them, added at its end. So a difference can be put on any
// profile: a restriction and a refusal never allow what was refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/profile.h"

namespace plimsoll::policy {

struct Restriction {
  std::vector<std::string> names;
  std::vector<std::vector<ArgTest>> alternatives;
  std::string comment;
};

struct Difference {
  std::string comment;
  std::vector<Restriction> restrictions;
  std::vector<ProfileEntry> refused = {};
  std::vector<ProfileEntry> allowed;
};

// Errors: kProtocol with the place; also for an action that is not the list's, for a restriction
// without conditions and for a refusal with some.
Result<Difference> ParseDifference(std::string_view text, std::string_view name);

// The profile with the difference in it; what it does not name stays as it was, in its order. An
// allowing rule and a restriction that test the same bits of an argument become one test, since a
// profile's text cannot say "and" of two tests of one argument.
//
// Error: kUnsupported when two such tests cannot be one (of comparisons, only equality can).
Result<Profile> Apply(const Difference& difference, Profile profile);

}  // namespace plimsoll::policy
