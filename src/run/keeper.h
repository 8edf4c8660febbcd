// A runner that is root gives its ids up in a worker, and keeps a process that does not.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"

namespace plimsoll::run {

// From here on the kernel sends this process SIGKILL when the thread that started it ends
// (PR_SET_PDEATHSIG, prctl(2)). Before BecomeWorker, whose worker follows its keeper. Errors:
// kHost, also when the parent is gone already.
Result<void> DieWithParent();

// How the worker ended: by itself, with an exit status, or killed by somebody.
struct WorkerEnd {
  int status = 0;
  int killed_by = 0;  // 0: it exited
};

// Forks. In the worker, which has dropped its groups and become `uid` and `gid` for good, the
// result is empty: it carries the run out. In the keeper, which stays root, passes signals on and
// waits, the result is the worker's end. A killed keeper takes its worker along.
//
// Errors: kHost; in the worker too, which then must not go on.
Result<std::optional<WorkerEnd>> BecomeWorker(std::uint32_t uid, std::uint32_t gid);

}  // namespace plimsoll::run
