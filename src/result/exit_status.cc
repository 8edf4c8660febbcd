#include "result/exit_status.h"

#include <csignal>

namespace plimsoll::result {

int ExitStatus(Cause cause, int exit_code, int signal) {
  switch (cause) {
    case Cause::kExited:
    case Cause::kNotExecuted:
      return exit_code;
    case Cause::kSignalled:
      return kSignalBase + signal;
    case Cause::kTimedOut:
      return kTimeLimit;
    case Cause::kOutOfMemory:
      return kSignalBase + SIGKILL;
    case Cause::kSetupFailed:
      return kRunnerFailed;
  }
  return kRunnerFailed;
}

}  // namespace plimsoll::result
