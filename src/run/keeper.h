// A runner that is root gives its ids up in a worker, and keeps a process that does not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.h"
#include "sys/unique_fd.h"

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

// What the keeper does for its worker, once: answers bytes with bytes.
using KeeperService = std::function<std::string(std::string_view)>;

// In the worker: the keeper's answer. Errors: kHost when the keeper has gone.
class Keeper {
 public:
  explicit Keeper(sys::UniqueFd socket) : socket_(std::move(socket)) {}
  Result<std::string> Ask(std::string_view request);

 private:
  sys::UniqueFd socket_;
};

// Forks. In the worker, which has dropped its groups and become `uid` and `gid` for good, the
// result is its keeper: it carries the run out. In the keeper, which stays root, passes signals on,
// serves and waits, the result is the worker's end. A killed keeper takes its worker along.
//
// Errors: kHost; in the worker too, which then must not go on.
Result<std::variant<Keeper, WorkerEnd>> BecomeWorker(std::uint32_t uid, std::uint32_t gid,
                                                     const KeeperService& service);

}  // namespace plimsoll::run
