// What became of a run: who ended it, with what, what it wrote and what it used.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace plimsoll::result {

// Whether anything of the guest ran. kUnknown: init was killed before it could say.
enum class Ran { kYes, kNo, kUnknown };

// Why the run ended, the first cause that came up.
enum class Cause {
  kExited,       // the first process of the last step that ran exited with exit_code
  kSignalled,    // it was ended by `signal`
  kTimedOut,     // --timeout or --cpu-time
  kOutOfMemory,  // the memory limit
  kNotExecuted,  // a step's program could not be executed: exit_code 126 or 127
  kSetupFailed,  // plimsoll failed or refused: `error`
};

// What the run came to, as its record and its response say it; numbered as in the digest.
enum class Outcome { kCompleted = 1, kSetupFailed = 2, kTimedOut = 3, kProtocolError = 4 };

// One output stream of the guest.
struct Stream {
  std::string kept;         // its beginning, up to the output limit
  std::uint64_t bytes = 0;  // all that the guest wrote
  std::string sha256;       // of all of it, lower-case hexadecimal
  bool truncated = false;   // more was written than was kept
  int lost_errno = 0;       // why it could not all be passed on to the caller; 0: it could, or the
                            // caller stopped reading
};

// One step that ran. A run ends with the first that fails, so of all but the last the exit code is
// 0.
struct Step {
  std::string command;  // request::CommandText
  int exit_code = 0;    // as an exit status, see exit_status.h; 126 and 127 too
  int signal = 0;       // that ended its first process; 0: none
  bool timed_out = false;
  bool oom = false;
  Stream out;
  Stream err;
};

// A file that a run was asked for.
struct Artifact {
  std::string path;
  std::string content;  // whole
};

// One that the run did not bring.
struct MissingArtifact {
  std::string path;
  std::string reason;      // "No such file or directory (ENOENT)"
  bool too_large = false;  // there, but larger than may be read
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
  int exit_code = 125;              // of the last step that ran, see exit_status.h
  int signal = 0;                   // that ended that step's first process; 0: none
  std::optional<Error> error;       // for kSetupFailed and kNotExecuted
  std::string detail;               // which step exceeded which limit; empty: none did
  std::string limit_note;           // the same for people, with the limit's value
  std::vector<Step> steps;          // those that ran, in order
  std::vector<Artifact> artifacts;  // in the order of the request
  std::vector<MissingArtifact> missing_artifacts;
  std::vector<std::string> run_later;      // on the host: what the guest made that tools may run
  std::vector<RefusedCall> refused_calls;  // by number, then by arguments
  std::uint64_t refused_uncounted = 0;     // further calls, of which there were too many kinds
  std::vector<std::string> limits_hit;     // names of the limits that were seen reached
  ResourceUse usage;
};

Outcome OutcomeOf(const RunResult& result);
// "completed", "setup_failed", "timed_out", "protocol_error".
std::string_view OutcomeName(Outcome outcome);
// `outcome_detail` of record and response: the error's message, else RunResult::detail.
std::string OutcomeDetail(const RunResult& result);
// True when an artifact that is there was left out for its size.
bool ArtifactsTruncated(const RunResult& result);

}  // namespace plimsoll::result
