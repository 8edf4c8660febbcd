#include "run/keeper.h"

#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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

// All that comes until the other end says that it has no more.
Result<std::string> ReadToEnd(int socket) {
  constexpr std::size_t kMost = std::size_t{1} << 31U;  // a draft with 64 outputs of 16 MiB
  return sys::ReadAll(socket, kMost, "the other part of the runner");
}

// Once; the end of the socket is the end of the answer.
void Serve(sys::UniqueFd socket, const KeeperService& service) {
  const auto request = ReadToEnd(socket.Get());
  if (!request || request->empty()) return;  // a worker that has ended, or was killed
  // A worker that does not read its answer has ended too.
  (void)sys::WriteAll(socket.Get(), service(*request), "the other part of the runner");
}

WorkerEnd WaitFor(const sys::UniqueFd& worker, const sys::UniqueFd& signals, sys::UniqueFd socket,
                  const KeeperService& service) {
  for (;;) {
    std::array<struct pollfd, 3> events = {{{worker.Get(), POLLIN, 0},
                                            {signals.Get(), POLLIN, 0},
                                            {socket.IsOpen() ? socket.Get() : -1, POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0) {
      if (errno == EINTR) continue;
      break;  // no more signals to pass on, but the worker is still served and its end waited for
    }
    while (const int number = NextSignal(signals.Get())) {
      (void)::syscall(SYS_pidfd_send_signal, worker.Get(), number, nullptr, 0);  // it may be gone
    }
    if (events[2].revents != 0) Serve(std::move(socket), service);
    if (events[0].revents != 0) break;
  }
  if (socket.IsOpen()) Serve(std::move(socket), service);
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

Result<std::string> Keeper::Ask(std::string_view request) {
  PLIMSOLL_TRY(sys::WriteAll(socket_.Get(), request, "the other part of the runner"));
  if (::shutdown(socket_.Get(), SHUT_WR) != 0) return sys::ErrnoError("shutdown");
  PLIMSOLL_TRY_ASSIGN(std::string answer, ReadToEnd(socket_.Get()));
  if (!answer.empty()) return answer;
  return Error{.kind = ErrorKind::kHost, .what = "the part of the runner that is root has ended"};
}

Result<std::variant<Keeper, WorkerEnd>> BecomeWorker(std::uint32_t uid, std::uint32_t gid,
                                                     const KeeperService& service) {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd signals, TakeSignals());
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return sys::ErrnoError("socketpair");
  }
  sys::UniqueFd ours(ends[0]);
  sys::UniqueFd theirs(ends[1]);
  const pid_t keeper = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return sys::ErrnoError("fork");
  if (pid == 0) {
    ours.Reset();
    PLIMSOLL_TRY(DropTo(uid, gid, keeper));
    return std::variant<Keeper, WorkerEnd>(Keeper(std::move(theirs)));
  }
  theirs.Reset();
  const sys::UniqueFd worker(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!worker.IsOpen()) {
    Error error = sys::ErrnoError("pidfd_open");
    (void)::kill(pid, SIGKILL);  // a child that nobody has reaped, so the number is still its own
    return error;
  }
  return std::variant<Keeper, WorkerEnd>(WaitFor(worker, signals, std::move(ours), service));
}

}  // namespace plimsoll::run
