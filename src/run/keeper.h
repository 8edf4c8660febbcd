// A runner that is root gives its ids up in a worker, and keeps a process that does not.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"

namespace plimsoll::run {

// Forks. In the worker, which has dropped its groups and become `uid` and `gid` for good, the
// result is empty: it carries the run out. In the keeper, which stays root, passes signals on and
// waits, the result is the worker's exit status. A killed keeper takes its worker along.
//
// Errors: kHost; in the worker too, which then must not go on.
Result<std::optional<int>> BecomeWorker(std::uint32_t uid, std::uint32_t gid);

}  // namespace plimsoll::run
