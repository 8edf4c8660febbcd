// What became of a run: who ended it, with what, what it wrote and what it used.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace plimsoll::result {

// Whether anything of the guest ran. kUnknown: init was killed before it could say.
enum class Ran { kYes, kNo, kUnknown };

// Why the run ended, the first cause that came up.
enum class Cause {
  kExited,       // the guest's first process exited with exit_code
  kSignalled,    // it was ended by `signal`
  kTimedOut,     // --timeout or --cpu-time
  kOutOfMemory,  // the memory limit
  kNotExecuted,  // the guest's program could not be executed: exit_code 126 or 127
  kSetupFailed,  // plimsoll failed or refused: `error`
};

// One output stream of the guest.
struct Stream {
  std::string kept;         // its beginning, up to the output limit
  std::uint64_t bytes = 0;  // all that the guest wrote
  std::string sha256;       // of all of it, lower-case hexadecimal
  bool truncated = false;   // more was written than was kept
  int lost_errno = 0;       // why it could not all be passed on to the caller; 0: it could, or the
                            // caller stopped reading
};

struct ResourceUse {
  std::uint64_t wall_ms = 0;
  std::uint64_t cpu_ms = 0;             // user and system time of the sandbox's processes
  std::uint64_t peak_memory_bytes = 0;  // the largest process, or more where the watchdog saw more
};

// A system call that the policy refused in a learning run, with the arguments it had first.
struct RefusedCall {
  std::uint32_t number = 0;
  bool is_native = true;  // false: by another gate (int $0x80), where numbers mean other calls
  std::array<std::uint64_t, 6> arguments = {};
  int error = 0;  // the errno that the guest was given
  std::uint64_t count = 0;
};

struct RunResult {
  Cause cause = Cause::kSetupFailed;
  Ran ran = Ran::kNo;
  int exit_code = 125;                 // as the caller's exit status, see cli/exit_status.h
  int signal = 0;                      // that ended the guest's first process; 0: none
  std::optional<Error> error;          // for kSetupFailed and kNotExecuted
  std::string detail;                  // which limit ended the run, in a sentence; empty: none did
  std::vector<std::string> run_later;  // on the host: what the guest made that tools may run
  std::vector<RefusedCall> refused_calls;  // by number, then by arguments
  std::uint64_t refused_uncounted = 0;     // further calls, of which there were too many kinds
  std::vector<std::string> limits_hit;     // names of the limits that were seen reached
  Stream out;
  Stream err;
  ResourceUse usage;
};

}  // namespace plimsoll::result
