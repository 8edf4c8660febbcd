#include "run/outcome.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "launch/spawn.h"

namespace plimsoll::run {
namespace {

using result::Cause;
using result::Ran;

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

// "the timeout limit of 1000 ms ended the run"
std::string LimitDetail(const Ending& ending, const plan::SandboxPlan& plan) {
  for (const plan::Limit& limit : plan.limits) {
    const bool is_time = limit.name == "timeout" || limit.name == "cpu-time";
    const bool fits = ending.stopped_for == Cause::kTimedOut ? is_time : limit.name == "memory";
    if (fits && std::find(ending.hit.begin(), ending.hit.end(), limit.name) != ending.hit.end()) {
      return "the " + limit.name + " limit of " + limit.value + " ended the run";
    }
  }
  return {};
}

Error NotExecutedError(const init::Report& report, const std::string& command) {
  const int number = static_cast<int>(report.value);
  const bool found = report.detail != 0;
  Error error{
      .kind = ErrorKind::kRequest, .what = "execute " + Quote(command), .sys_errno = number};
  if (found && number == ENOENT) {
    error.hint = "the file exists; the interpreter that it names does not";
  } else if (!found && command.find('/') == std::string::npos) {
    error.what = Quote(command) + " is in no directory of the guest's PATH";
    error.sys_errno = 0;
  } else if (number == ENOEXEC) {
    error.hint = "the file is neither a program of this machine nor a script with a '#!' line";
  }
  return error;
}

// When process 1 had not reported yet, nobody knows whether the guest ran.
void SandboxKilled(const Ending& ending, result::RunResult& result) {
  result.cause = Cause::kSignalled;
  result.ran = ending.began ? Ran::kYes : Ran::kUnknown;
  result.signal = SIGKILL;
  result.error = Error{.kind = ErrorKind::kHost,
                       .what = "the sandbox was killed from outside before its command ended"};
  if (ending.thread_errno == 0) return;
  result.error = Error{.kind = ErrorKind::kHost,
                       .what = "the run was ended: a thread of the runner could not be started",
                       .sys_errno = ending.thread_errno};
}

}  // namespace

void DecideOutcome(const Ending& ending, const plan::SandboxPlan& plan, result::RunResult& result) {
  result.ran = ending.began ? Ran::kYes : Ran::kNo;
  if (ending.failed) {
    result.cause = Cause::kSetupFailed;
    result.error =
        launch::StepError(plan, ending.failed->value, static_cast<int>(ending.failed->detail));
    return;
  }
  if (ending.not_executed) {
    const bool found = ending.not_executed->detail != 0 && ending.not_executed->value != ENOENT;
    result.cause = Cause::kNotExecuted;
    result.exit_code = found ? kNotExecutable : kNotFound;
    result.error = NotExecutedError(*ending.not_executed, plan.command[0]);
    return;
  }
  const auto& status = ending.wait_status;
  if (status && WIFSIGNALED(*status)) result.signal = WTERMSIG(*status);
  result.limits_hit = ending.hit;
  if (ending.stopped_for) {
    result.cause = *ending.stopped_for;
    result.detail = LimitDetail(ending, plan);
    if (!status) result.signal = SIGKILL;
  } else if (!status || ending.thread_errno != 0) {
    SandboxKilled(ending, result);
  } else if (result.signal != 0) {
    result.cause = Cause::kSignalled;
  } else {
    result.cause = Cause::kExited;
    result.exit_code = WEXITSTATUS(*status);
  }
}

}  // namespace plimsoll::run
