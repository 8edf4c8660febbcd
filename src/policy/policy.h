// The system call policy of a run, compiled: what launch loads and what the record names.
#pragma once

#include <linux/filter.h>

#include <span>
#include <string_view>

namespace plimsoll::policy {

// One program for seccomp(2), the guard and the profile behind it, and where both came from. The
// shipped policies are compiled at build time, so the views point into the binary and live as long
// as the process.
//
// `program` is one search tree for both: a tree for each, one after the other, does the same and
// takes a quarter longer to load. So it has neither's instructions in it; what proves it is that
// its answers are those of the two programs named by the last two digests, taken in their order.
struct Policy {
  std::span<const sock_filter> program;
  std::string_view digest;          // "seccomp:sha256:<hex>" of the profile's canonical bytes
  std::string_view program_digest;  // "sha256:<hex>" of the bytes of `program`
  std::string_view guard_digest;    // the same of the guard's program by itself
  std::string_view profile_program_digest;  // and of the profile's program without the guard
};

// The shipped default (policy/default.json), behind the guard.
Policy Default();

}  // namespace plimsoll::policy
