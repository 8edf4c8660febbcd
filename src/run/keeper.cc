#include "run/keeper.h"

#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "run/signals.h"
#include "sys/file.h"

namespace plimsoll::run {
namespace {

Result<void> DropTo(std::uint32_t uid, std::uint32_t gid, pid_t keeper) {
  if (::setgroups(0, nullptr) != 0) return sys::ErrnoError("setgroups");
  if (::setresgid(gid, gid, gid) != 0) return sys::ErrnoError("setresgid");
  if (::setresuid(uid, uid, uid) != 0) return sys::ErrnoError("setresuid");
  // A change of ids makes the process undumpable, and then its child could not write its id maps;
  // it also clears the parent-death signal, so that comes last.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return sys::ErrnoError("prctl PR_SET_DUMPABLE");
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    return sys::ErrnoError("prctl PR_SET_PDEATHSIG");
  }
  if (::getppid() != keeper) ::_exit(1);  // the keeper died before the signal was asked for
  return {};
}

WorkerEnd WaitFor(const sys::UniqueFd& worker, const sys::UniqueFd& signals) {
  for (;;) {
    std::array<struct pollfd, 2> events = {{{worker.Get(), POLLIN, 0}, {signals.Get(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0) {
      if (errno == EINTR) continue;
      break;  // no more signals to pass on, but the end is still waited for
    }
    while (const int number = NextSignal(signals.Get())) {
      (void)::syscall(SYS_pidfd_send_signal, worker.Get(), number, nullptr, 0);  // it may be gone
    }
    if (events[0].revents != 0) break;
  }
  siginfo_t info = {};
  (void)::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(worker.Get()), &info, WEXITED);
  if (info.si_code != CLD_EXITED) return {.killed_by = info.si_status};
  return {.status = info.si_status};
}

}  // namespace

Result<void> DieWithParent() {
  const pid_t parent = ::getppid();
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    return sys::ErrnoError("prctl PR_SET_PDEATHSIG");
  }
  if (::getppid() == parent) return {};
  return Error{.kind = ErrorKind::kHost, .what = "--die-with-parent: the parent has ended"};
}

Result<std::optional<WorkerEnd>> BecomeWorker(std::uint32_t uid, std::uint32_t gid) {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd signals, TakeSignals());
  const pid_t keeper = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return sys::ErrnoError("fork");
  if (pid == 0) {
    PLIMSOLL_TRY(DropTo(uid, gid, keeper));
    return std::optional<WorkerEnd>();
  }
  const sys::UniqueFd worker(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!worker.IsOpen()) {
    Error error = sys::ErrnoError("pidfd_open");
    (void)::kill(pid, SIGKILL);  // a child that nobody has reaped, so the number is still its own
    return error;
  }
  return std::optional<WorkerEnd>(WaitFor(worker, signals));
}

}  // namespace plimsoll::run
