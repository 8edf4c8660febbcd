// A seccomp profile in the container engines' JSON form, as policy/default.json is written.
//
// Read strictly: what is not understood is refused, never skipped, since a skipped member could be
// the one that forbids something. Form: the runtime specification's Linux seccomp section and the
// engines' own additions to it (archMap, includes, excludes, minKernel).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/reader.h"
#include "policy/verdicts.h"

namespace plimsoll::policy {

// One entry of "syscalls": the action for each of the named calls when all tests hold. An entry of
// a file that tests one argument twice stands for several: to the engines those tests are
// alternatives.
struct ProfileEntry {
  std::vector<std::string> names;
  Rule rule;
  std::string comment;

  bool operator==(const ProfileEntry&) const = default;
};

struct Profile {
  std::uint32_t default_action = 0;  // SECCOMP_RET_*
  std::vector<ProfileEntry> entries;

  bool operator==(const Profile&) const = default;
};

// What "includes" and "excludes" of an entry are held against. The guest is on amd64 and has no
// capability, so only the kernel's version is open.
struct Platform {
  std::uint32_t kernel_major = 0;
  std::uint32_t kernel_minor = 0;
};

// Parses the text of a profile, which messages call `name`, and leaves out the entries that are not
// for `platform`. Known: every action but SCMP_ACT_NOTIFY (which needs an agent), all comparisons,
// comments. Sub-architectures are read and have no effect: the filter refuses every architecture
// but x86-64 itself. Filter flags are read and not used.
//
// Errors: kProtocol with the place; kUnsupported for a profile without rules for x86-64 or with a
// listener.
Result<Profile> ParseProfile(std::string_view text, std::string_view name,
                             const Platform& platform = {});

// One entry of "syscalls", for other files that hold such entries.
Result<std::vector<ProfileEntry>> ParseEntry(const json::Value& entry, const Platform& platform);
// Its "args" alone: alternatives, each a list of tests; one empty list when there are none.
Result<std::vector<std::vector<ArgTest>>> ParseArgs(const json::Value& entry);

// The number of a system call on x86-64; nothing when only other architectures have it; an error
// when it is to be refused that no architecture has a call of that name.
using CallNumber = std::function<Result<std::optional<std::uint32_t>>(const std::string& name)>;

// What is to be thought of rules that contradict each other or mean nothing.
enum class Reading {
  // They are errors: conditions that change nothing, since the call has that action without them,
  // read as a restriction and are none; and two rules without conditions that disagree.
  kStrict,
  // As far as the container engines' own profiles go: the former are passed over, and of the latter
  // the stricter one counts.
  kLenient,
};

// The profile's verdicts. Of several conditional rules for one call the first that holds decides;
// the rule without conditions decides when none does. Errors: those of `number_of`; kProtocol, see
// Reading.
Result<Verdicts> ToVerdicts(const Profile& profile, const CallNumber& number_of,
                            Reading reading = Reading::kStrict);

}  // namespace plimsoll::policy
