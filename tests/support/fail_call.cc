#include "support/fail_call.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "sys/unique_fd.h"

namespace plimsoll::testing_support {
namespace {

constexpr int kPatienceMs = static_cast<int>(std::chrono::milliseconds(kPatience).count());

// Notifies of every call but sendmsg(2), by which the listener gets out of the filtered process.
constexpr std::array<sock_filter, 6> kFilter = {{
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 2),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
}};

// Room for one descriptor beside a message of one byte.
struct FdMessage {
  char byte = 0;
  iovec vector = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr header = {};

  FdMessage() {
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
};

bool SendFd(int socket, int fd) {
  FdMessage message;
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(control), &fd, sizeof fd);
  return ::sendmsg(socket, &message.header, 0) == 1;
}

sys::UniqueFd ReceiveFd(int socket) {
  FdMessage message;
  int fd = -1;
  if (::recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC) == 1) {
    std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message.header)), sizeof fd);
  }
  return sys::UniqueFd(fd);
}

// In the new process, which from here on makes no call without being seen.
void FilterMyself(int socket) {
  sock_fprog program = {.len = kFilter.size(), .filter = const_cast<sock_filter*>(kFilter.data())};
  // Root needs no no_new_privs for a filter, and a runner of root's usually runs without it.
  if (::geteuid() != 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(96);
  const long listener =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (listener < 0 || !SendFd(socket, static_cast<int>(listener))) ::_exit(95);
}

// A thread of the program under watch.
struct Task {
  bool in_sandbox = false;  // in a pid namespace below ours
  int inner_pid = 0;        // its id there
  pid_t process = 0;
  sys::UniqueFd pidfd;
  bool dies_with_parent = false;  // it has asked for that
};

Task LookAt(pid_t thread) {
  Task task;
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "Tgid:") words >> task.process;
    if (name != "NSpid:") continue;
    int ours = 0;
    words >> ours;
    task.in_sandbox = static_cast<bool>(words >> task.inner_pid);
  }
  task.pidfd.Reset(static_cast<int>(::syscall(SYS_pidfd_open, task.process, 0)));
  return task;
}

// At once, or after a while.
bool HasEnded(const sys::UniqueFd& pidfd) {
  struct pollfd end = {.fd = pidfd.Get(), .events = POLLIN, .revents = 0};
  return !pidfd.IsOpen() || ::poll(&end, 1, kPatienceMs) > 0;
}

void Kill(const sys::UniqueFd& pidfd) {
  (void)::syscall(SYS_pidfd_send_signal, pidfd.Get(), SIGKILL, nullptr, 0);  // it may have ended
}

// Answers the notifications of one run. Lives in a thread of its own.
class Supervisor {
 public:
  Supervisor(sys::UniqueFd listener, pid_t first, const Fault& fault)
      : listener_(std::move(listener)), first_(first), fault_(fault) {}

  // Until no process with the filter is left. False, and everything is killed, when that takes too
  // long.
  bool Serve() {
    for (;;) {
      struct pollfd event = {.fd = listener_.Get(), .events = POLLIN, .revents = 0};
      if (::poll(&event, 1, kPatienceMs) <= 0 || stuck_) break;
      if ((event.revents & POLLIN) != 0) {
        Answer();
      } else if ((event.revents & POLLHUP) != 0) {
        return true;
      }
    }
    for (const auto& [thread, task] : tasks_)
      Kill(task.pidfd);
    return false;
  }

  const std::optional<Call>& Hit() const { return hit_; }
  bool GuestStarted() const { return guest_started_; }

 private:
  void Answer() {
    seccomp_notif request = {};
    if (::ioctl(listener_.Get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;  // it has ended
    const auto thread = static_cast<pid_t>(request.pid);
    const auto [place, is_new] = tasks_.try_emplace(thread);
    if (is_new) place->second = LookAt(thread);
    Task& task = place->second;
    Note(task);
    seccomp_notif_resp response = {};
    response.id = request.id;
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    if (Counts(thread, task, request.data.nr) && ++count_ == fault_.call) {
      Strike(task, request.data, response);
    }
    if (request.data.nr == SYS_prctl && request.data.args[0] == PR_SET_PDEATHSIG) {
      task.dies_with_parent = response.error == 0;
    }
    if (request.data.nr == SYS_execve && task.inner_pid > 1 && IsInits(thread) &&
        (guests_.empty() || guests_.back() != thread)) {
      guests_.push_back(thread);
    }
    (void)::ioctl(listener_.Get(), SECCOMP_IOCTL_NOTIF_SEND, &response);  // it may have been killed
  }

  // What is known before the call is answered.
  void Note(const Task& task) {
    sandbox_seen_ = sandbox_seen_ || task.in_sandbox;
    if (!task.in_sandbox) return;
    guest_started_ = guest_started_ || (!guests_.empty() && !IsInits(guests_[0]));
    second_started_ = second_started_ || (guests_.size() > 1 && !IsInits(guests_[1]));
  }

  // Whether it is init, or a guest's process, which has init's name until its execve has worked.
  static bool IsInits(pid_t thread) {
    std::ifstream file("/proc/" + std::to_string(thread) + "/comm");
    std::string name;
    return !(file >> name) || name == "plimsoll-init";
  }

  bool Counts(pid_t thread, const Task& task, int number) {
    // A pipe that stays open keeps its reader waiting, and no close(2) that fails leaves it open.
    if (number == SYS_close && !task.in_sandbox && fault_.kind == FaultKind::kFail) return false;
    switch (fault_.caller) {
      case Caller::kRunner:
        main_begun_ = main_begun_ || (task.process == first_ && number == SYS_geteuid);
        return task.process == first_ && main_begun_;
      case Caller::kWorker:
        return task.process != first_ && !task.in_sandbox;
      case Caller::kSetUp:
        return task.in_sandbox && !guest_started_;
      case Caller::kInit:
        return task.in_sandbox && guest_started_ && task.inner_pid == 1;
      case Caller::kBetween:
        return task.in_sandbox && guest_started_ && !second_started_ && IsInits(thread);
    }
    return false;
  }

  void Strike(const Task& task, const seccomp_data& data, seccomp_notif_resp& response) {
    hit_ = Call{.number = data.nr, .arguments = {}, .before_clone = !sandbox_seen_};
    std::copy(std::begin(data.args), std::end(data.args), hit_->arguments.begin());
    if (fault_.kind == FaultKind::kFail) {
      response.flags = 0;
      response.error = -fault_.error;
    } else {
      KillAndWait(task);
    }
  }

  // Everything that has asked to die with its parent must do so, before the caller gets its answer:
  // then the caller, in the sandbox, never gets one.
  void KillAndWait(const Task& caller) {
    const bool first = fault_.kind == FaultKind::kKillRunner;
    for (const auto& [thread, task] : tasks_) {
      if (IsRunner(task, first)) Kill(task.pidfd);
    }
    for (const auto& [thread, task] : tasks_) {
      if (IsRunner(task, first)) WaitFor(task.pidfd);
    }
    for (const auto& [thread, task] : tasks_) {
      if (!task.in_sandbox && task.dies_with_parent) WaitFor(task.pidfd);
      if (caller.in_sandbox && task.inner_pid == 1 && task.dies_with_parent) WaitFor(caller.pidfd);
    }
  }

  bool IsRunner(const Task& task, bool first) const {
    return !task.in_sandbox && (task.process == first_) == first;
  }

  void WaitFor(const sys::UniqueFd& pidfd) { stuck_ = stuck_ || !HasEnded(pidfd); }

  sys::UniqueFd listener_;
  pid_t first_;
  Fault fault_;
  std::map<pid_t, Task> tasks_;
  int count_ = 0;
  std::vector<pid_t> guests_;  // the guests' processes, once they tried to execute their programs
  bool guest_started_ = false;
  bool second_started_ = false;
  bool main_begun_ = false;
  bool sandbox_seen_ = false;
  bool stuck_ = false;
  std::optional<Call> hit_;
};

}  // namespace

Watched RunWatched(Command command, const Fault& fault) {
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) ::abort();
  sys::UniqueFd ours(ends[0]);
  sys::UniqueFd theirs(ends[1]);
  command.prepare = [socket = theirs.Get()] { FilterMyself(socket); };
  Process process(std::move(command));
  theirs.Reset();
  sys::UniqueFd listener = ReceiveFd(ours.Get());
  if (!listener.IsOpen()) ::abort();
  Supervisor supervisor(std::move(listener), process.Pid(), fault);
  bool ended = false;
  std::thread thread([&] { ended = supervisor.Serve(); });
  Watched watched;
  watched.outcome = process.Wait();
  thread.join();
  EXPECT_TRUE(ended) << "call " << fault.call << ": processes were left";
  watched.hit = supervisor.Hit();
  watched.guest_started = supervisor.GuestStarted();
  return watched;
}

}  // namespace plimsoll::testing_support
