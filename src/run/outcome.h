// From what was seen of a run to what is said of it: one cause, who ended it, and the error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "init/wire.h"
#include "plan/sandbox_plan.h"
#include "result/run_result.h"

namespace plimsoll::run {

// What was reported of one command.
struct CommandEnding {
  std::optional<init::Report> not_executed;
  bool began = false;              // its program has
  std::optional<int> wait_status;  // of its first process
};

// How a run ended, as it was reported and as the runner saw it.
struct Ending {
  std::vector<std::string> hit;              // names of the limits that were seen reached
  std::optional<result::Cause> stopped_for;  // why the runner ended it, when it did
  int thread_errno = 0;  // why a thread of the runner could not be started; 0: all could
  std::optional<init::Report> failed;
  std::vector<CommandEnding> commands;  // one for each of the plan
};

// Fills cause, ran, exit code, signal, limits, detail, error, and the steps that ran but for their
// streams. The first cause wins: a limit that ended the run goes before the signal it was ended
// with.
void DecideOutcome(const Ending& ending, const plan::SandboxPlan& plan, result::RunResult& result);

}  // namespace plimsoll::run
