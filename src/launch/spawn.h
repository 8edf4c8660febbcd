// Starts the sandbox: one clone, and the init program in it with the plan.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "init/wire.h"
#include "plan/sandbox_plan.h"
#include "sys/clone.h"
#include "sys/unique_fd.h"

namespace plimsoll::launch {

// The ends of pipes that go into the sandbox.
struct GuestStreams {
  int in = -1;              // standard input of every command
  std::vector<int> output;  // standard output and standard error of the first command, and so on
  int artifacts = -1;       // -1: the plan has none
};

struct Sandbox {
  sys::ClonedChild init;
  sys::UniqueFd report;  // read end; what init says, as init::Report, non-blocking
};

// Clones into the plan's namespaces and starts init there; `cgroup_fd` is the run's own group, or
// -1. Returns when init runs, or when the cloned child has failed, which is then waiting in the
// report.
//
// The calling thread must be the process's only one and must outlive the sandbox: init ends when
// this thread ends (PR_SET_PDEATHSIG).
//
// Errors: kHost, with a hint where the cause is a known setting of the host.
Result<Sandbox> Spawn(const plan::SandboxPlan& plan, const GuestStreams& streams, int cgroup_fd);

// The error of step `index` that failed with `error_number`: the step in words and, where the cause
// is known, what to do.
Error StepError(const plan::SandboxPlan& plan, std::uint32_t index, int error_number);

// Why a host refuses the namespaces of a sandbox with `error_number`, and the cure, as the settings
// in the folder `settings` (/proc/sys) tell it.
std::string NamespaceHint(int error_number, const std::string& settings);

}  // namespace plimsoll::launch
