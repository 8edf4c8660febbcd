#include "run/signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

#include "sys/file.h"

namespace plimsoll::run {
namespace {

constexpr std::array<int, 9> kForwarded = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                           SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};

}  // namespace

Result<sys::UniqueFd> TakeSignals() {
  sigset_t taken;
  ::sigemptyset(&taken);
  for (const int number : kForwarded) {
    struct sigaction current = {};
    if (::sigaction(number, nullptr, &current) == 0 && current.sa_handler != SIG_IGN) {
      ::sigaddset(&taken, number);
    }
  }
  (void)::signal(SIGCHLD, SIG_DFL);  // cannot fail for these two
  (void)::signal(SIGPIPE, SIG_IGN);
  if (::sigprocmask(SIG_BLOCK, &taken, nullptr) != 0) return sys::ErrnoError("sigprocmask");
  sys::UniqueFd fd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.IsOpen()) return sys::ErrnoError("signalfd");
  return fd;
}

void ReleaseSignals() {
  sigset_t taken;
  ::sigemptyset(&taken);
  for (const int number : kForwarded)
    ::sigaddset(&taken, number);
  (void)::pthread_sigmask(SIG_UNBLOCK, &taken, nullptr);  // cannot fail with these arguments
}

int NextSignal(int signal_fd) {
  struct signalfd_siginfo info = {};
  const ssize_t count = ::read(signal_fd, &info, sizeof info);
  return count == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace plimsoll::run
