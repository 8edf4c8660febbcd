#include "run/outcome.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "launch/spawn.h"
#include "result/exit_status.h"

namespace plimsoll::run {
namespace {

using result::Cause;
using result::Ran;

// Which command decides the run's end: the last that init spoke of; the first when it spoke of
// none.
std::size_t LastCommand(const Ending& ending) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < ending.commands.size(); ++i) {
    if (ending.commands[i].began || ending.commands[i].not_executed) last = i;
  }
  return last;
}

// True when the last command that init spoke of ended well, and init started no other behind it.
bool IsCutShort(const Ending& ending) {
  const std::size_t last = LastCommand(ending);
  return last + 1 < ending.commands.size() && ending.commands[last].wait_status == 0;
}

bool Began(const Ending& ending) {
  return ending.commands[0].began;
}

// "the timeout limit of 1000 ms ended the run", and what the record says of it.
void SayWhichLimit(const Ending& ending, const plan::SandboxPlan& plan, result::RunResult& result) {
  std::string_view budget = "memory";
  for (const plan::Limit& limit : plan.limits) {
    const bool is_time = limit.name == "timeout" || limit.name == "cpu-time";
    const bool fits = ending.stopped_for == Cause::kTimedOut ? is_time : limit.name == "memory";
    if (fits && std::find(ending.hit.begin(), ending.hit.end(), limit.name) != ending.hit.end()) {
      result.limit_note = "the " + limit.name + " limit of " + limit.value + " ended the run";
      if (is_time) budget = limit.name == "timeout" ? "time" : "processor time";
      break;
    }
  }
  result.detail =
      Began(ending) ? "step " + std::to_string(LastCommand(ending) + 1) + " exceeded its " +
                          std::string(budget) + " budget"
                    : "the run exceeded its " + std::string(budget) + " budget before step 1 began";
}

// Errors of a run of several steps say which of them it was.
Error InStep(Error error, const Ending& ending, std::size_t command) {
  if (ending.commands.size() == 1) return error;
  return std::move(error).In("step " + std::to_string(command + 1));
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
  result.ran = Began(ending) ? Ran::kYes : Ran::kUnknown;
  result.signal = SIGKILL;
  result.error = Error{.kind = ErrorKind::kHost,
                       .what = "the sandbox was killed from outside before its command ended"};
  if (ending.thread_errno == 0) return;
  result.error = Error{.kind = ErrorKind::kHost,
                       .what = "the run was ended: a thread of the runner could not be started",
                       .sys_errno = ending.thread_errno};
}

void DecideCause(const Ending& ending, const plan::SandboxPlan& plan, result::RunResult& result) {
  const std::size_t last = LastCommand(ending);
  const CommandEnding& command = ending.commands[last];
  if (ending.failed) {
    const init::Report& failed = *ending.failed;
    result.cause = Cause::kSetupFailed;
    result.error = InStep(launch::StepError(plan, failed.value, static_cast<int>(failed.detail)),
                          ending, Began(ending) ? failed.command : 0);
    return;
  }
  if (command.not_executed) {
    const bool found = command.not_executed->detail != 0 && command.not_executed->value != ENOENT;
    result.cause = Cause::kNotExecuted;
    result.exit_code = found ? result::kNotExecutable : result::kNotFound;
    result.error = InStep(NotExecutedError(*command.not_executed, plan.commands[last].arguments[0]),
                          ending, last);
    return;
  }
  const auto& status = command.wait_status;
  if (status && WIFSIGNALED(*status)) result.signal = WTERMSIG(*status);
  result.limits_hit = ending.hit;
  if (ending.stopped_for) {
    result.cause = *ending.stopped_for;
    SayWhichLimit(ending, plan, result);
    if (!status) result.signal = SIGKILL;
  } else if (!status || ending.thread_errno != 0 || IsCutShort(ending)) {
    SandboxKilled(ending, result);
  } else if (result.signal != 0) {
    result.cause = Cause::kSignalled;
  } else {
    result.cause = Cause::kExited;
    result.exit_code = WEXITSTATUS(*status);
  }
}

// All but the last have exited with 0, or nothing would have followed them.
void FillSteps(const Ending& ending, const plan::SandboxPlan& plan, result::RunResult& result) {
  if (result.ran != Ran::kYes) return;
  const std::size_t last = LastCommand(ending);
  for (std::size_t i = 0; i <= last; ++i) {
    result.steps.push_back({.command = plan.commands[i].text, .out = {}, .err = {}});
  }
  // Behind the last of them, which had ended well.
  if (ending.failed || (IsCutShort(ending) && !ending.stopped_for)) return;
  result::Step& step = result.steps.back();
  step.exit_code = result::ExitStatus(result.cause, result.exit_code, result.signal);
  step.signal = result.signal;
  step.timed_out = result.cause == Cause::kTimedOut;
  step.oom = result.cause == Cause::kOutOfMemory;
}

}  // namespace

void DecideOutcome(const Ending& ending, const plan::SandboxPlan& plan, result::RunResult& result) {
  result.ran = Began(ending) ? Ran::kYes : Ran::kNo;
  DecideCause(ending, plan, result);
  FillSteps(ending, plan, result);
}

}  // namespace plimsoll::run
