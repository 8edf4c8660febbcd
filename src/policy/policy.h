// The system call policy of a run, compiled: what launch loads and what the record names.
#pragma once

#include <linux/filter.h>

#include <span>
#include <string_view>

namespace plimsoll::policy {

// One program for seccomp(2), the guard and the profile behind it, and where both came from. The
// shipped policies are compiled at build time, so the views point into the binary and live as long
// as the process.
struct Policy {
  std::span<const sock_filter> program;
  std::string_view digest;          // "seccomp:sha256:<hex>" of the profile's canonical bytes
  std::string_view program_digest;  // "sha256:<hex>" of the bytes of `program`
};

// The shipped default (policy/default.json), behind the guard.
Policy Default();

}  // namespace plimsoll::policy
