// What each step does. Every function carries one step out and returns 0 or the errno that stopped
// it.
#pragma once

#include "init/plan_view.h"

namespace plimsoll::init {

// What later steps need from earlier ones. -1: not there yet.
struct State {
  int scratch = -1;               // root directory of the scratch tmpfs
  int root = -1;                  // root directory of the guest's tree
  const char* scratch_path = "";  // where the guest sees the scratch
  int landlock = -1;
  int listener = -1;         // of the guest's filter
  long listener_route = -1;  // the socket that it goes out over
  bool passed_used[72] = {};
  bool is_ending = false;  // the runner has asked for the end of the run; no command follows
};

// Mount steps (mounts.cc): kPrivateMounts to kPivotRoot.
int DoMountStep(const PlanView& plan, const Step& step, State& state);

// Everything about the process itself (identity.cc): limits, capabilities, names, the network.
int DoIdentityStep(const PlanView& plan, const Step& step);

// The guest's own steps up to the filter (guest.cc); kExec is ExecuteGuest.
int DoGuestStep(const PlanView& plan, const Step& step, State& state);

// Sends the file of a kArtifact step out, as parts of the artifact `index` (artifacts.cc). Nothing
// of it is worth ending the run for.
void SendArtifact(const PlanView& plan, const Step& step, uint32_t index);

// True when nobody can read the report any more: the runner is gone.
bool RunnerIsGone();

// Empties the signal mask and executes the guest's program. Returns only when that fails: the
// errno, in `tried` whether it came to execve(2) at all, and in `found` whether the file itself was
// there.
int ExecuteGuest(const PlanView& plan, const Step& step, bool& tried, bool& found);

}  // namespace plimsoll::init
