#include "cli/exit_status.h"

#include <csignal>

namespace plimsoll::cli {

int ExitStatus(const result::RunResult& result) {
  constexpr int kSignalBase = 128;
  switch (result.cause) {
    case result::Cause::kExited:
    case result::Cause::kNotExecuted:
      return result.exit_code;
    case result::Cause::kSignalled:
      return kSignalBase + result.signal;
    case result::Cause::kTimedOut:
      return kTimeLimit;
    case result::Cause::kOutOfMemory:
      return kSignalBase + SIGKILL;
    case result::Cause::kSetupFailed:
      return kRunnerFailed;
  }
  return kRunnerFailed;
}

}  // namespace plimsoll::cli
