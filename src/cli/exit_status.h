// The outcome of a run as the process's exit status; the table of plimsoll-exec(1).
#pragma once

#include "result/exit_status.h"

namespace plimsoll::cli {

using result::kRunnerFailed;
using result::kTimeLimit;

// That of the last step that ran, since a run ends at the first that fails.
inline int ExitStatus(const result::RunResult& result) {
  return result::ExitStatus(result.cause, result.exit_code, result.signal);
}

}  // namespace plimsoll::cli
