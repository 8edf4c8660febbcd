// The signals that a runner passes on, as a descriptor to poll.
#pragma once

#include "base/error.h"
#include "sys/unique_fd.h"

namespace plimsoll::run {

// Blocks the signals that are meant for the guest and returns a signalfd(2) for them. A signal that
// was ignored when the process started (nohup) stays ignored. SIGCHLD gets its default disposition,
// since an inherited "ignore" would lose the sandbox's exit status, and SIGPIPE is ignored.
Result<sys::UniqueFd> TakeSignals();

// Lets those signals act on this process again: once the sandbox has ended there is nobody to pass
// them to, and the user must be able to end a runner that waits for a slow reader.
void ReleaseSignals();

// The next pending signal's number, 0 when there is none.
int NextSignal(int signal_fd);

}  // namespace plimsoll::run
