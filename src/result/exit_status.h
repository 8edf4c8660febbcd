// The outcome of a run or of a step as an exit status; the table of plimsoll-exec(1).
#pragma once

#include "result/run_result.h"

namespace plimsoll::result {

inline constexpr int kTimeLimit = 124;
inline constexpr int kRunnerFailed = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;
inline constexpr int kSignalBase = 128;

// The command's own `exit_code` (0-255) when it exited, 126 or 127 when it could not be executed or
// was not found; 124 for a time limit; 125 when plimsoll failed or refused; 128+n for `signal`, and
// 137 for the memory limit.
int ExitStatus(Cause cause, int exit_code, int signal);

}  // namespace plimsoll::result
