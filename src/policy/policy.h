// The system call policy of a run, compiled: what launch loads and what the record names.
#pragma once

#include <linux/filter.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "policy/bpf.h"

namespace plimsoll::policy {

// One program for seccomp(2), the guard and the profile behind it, and where both came from.
//
// `program` is one search tree for both: a tree for each, one after the other, does the same and
// takes a quarter longer to load. So it has neither's instructions in it; what proves it is that
// its answers are those of the two programs named by the last two digests, taken in their order.
struct Policy {
  std::string profile;                   // "default", or the file's path
  std::vector<std::string> differences;  // by name, in the order they were applied
  std::string digest;          // "seccomp:sha256:<hex>" of the profile's canonical bytes, or of the
                               // bytes of a file that has no difference in it
  std::string program_digest;  // "sha256:<hex>" of the bytes of `program`
  std::string guard_digest;    // the same of the guard's program by itself
  std::string profile_program_digest;    // and of the profile's program without the guard
  std::span<const sock_filter> program;  // in the binary, or in `owned`
  std::shared_ptr<const Program> owned;
};

// The program of a learning run: where `program` answers with an errno, this one asks a listener
// (SECCOMP_RET_USER_NOTIF, seccomp_unotify(2)), who gives that answer. Error: kRequest when a call
// that the guest's own start needs would have to be asked for, since nobody listens by then.
Result<Program> LearningProgram(std::span<const sock_filter> program);

}  // namespace plimsoll::policy
