// The outcome of a run as the process's exit status; the table of plimsoll-exec(1).
#pragma once

#include "result/run_result.h"

namespace plimsoll::cli {

inline constexpr int kTimeLimit = 124;
inline constexpr int kRunnerFailed = 125;

// The guest's own 0-255; 124 for a time limit; 125 when plimsoll failed or refused and nothing ran;
// 126 and 127 when the command could not be executed or was not found; 128+n for signal n, and 137
// for the memory limit.
int ExitStatus(const result::RunResult& result);

}  // namespace plimsoll::cli
