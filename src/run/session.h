// One run, from the clone to the last byte of output.
#pragma once

#include <cstdint>
#include <functional>

#include "plan/sandbox_plan.h"
#include "result/run_result.h"
#include "run/artifacts.h"

namespace plimsoll::run {

struct Options {
  bool forward_output = true;            // the guest's streams go to our 1 and 2 as they come
  bool interactive = false;              // our standard input reaches the guest
  std::uint64_t output_limit = 0;        // bytes of each stream kept in the result
  ArtifactLimits artifacts = {};         // of what is kept in the result
  std::function<void()> meanwhile = {};  // called once when the guest has been started: work that
                                         // need not wait for its end
};

// Starts the plan's sandbox and waits for its end: forwards signals that this process gets, ends
// the sandbox at its limits, and empties both streams to their last byte. A failure to set the
// sandbox up is an outcome, Cause::kSetupFailed with the error, not an exception to the flow.
//
// The calling thread must be the only one of the process. Signals that it handles are blocked from
// here on, and the process is made undumpable.
result::RunResult Execute(const plan::SandboxPlan& plan, const Options& options);

}  // namespace plimsoll::run
