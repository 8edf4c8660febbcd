#include "run/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "launch/cgroup.h"
#include "launch/spawn.h"
#include "run/learner.h"
#include "run/outcome.h"
#include "run/pump.h"
#include "run/signals.h"
#include "run/watchdog.h"
#include "sys/file.h"

namespace plimsoll::run {
namespace {

using Clock = std::chrono::steady_clock;
using result::Cause;

// Between two looks of the watchdog: the most that a limit is overrun by. A look costs some 100 µs,
// so one that only guards the default is rarer.
constexpr std::chrono::milliseconds kWatchInterval{10};
constexpr std::chrono::milliseconds kDefaultWatchInterval{100};

// The guest's ends of its streams, and ours.
struct Streams {
  sys::UniqueFd guest_in;
  sys::UniqueFd guest_out;
  sys::UniqueFd guest_err;
  sys::UniqueFd in;
  sys::UniqueFd out;
  sys::UniqueFd err;
};

// Always pipes or a /dev/null of our own: an inherited descriptor would let the guest open the
// host's file anew through /proc/self/fd.
Result<Streams> MakeStreams(bool interactive) {
  Streams streams;
  if (interactive) {
    PLIMSOLL_TRY_ASSIGN(sys::Pipe in, sys::MakePipe());
    streams.guest_in = std::move(in.read);
    streams.in = std::move(in.write);
  } else {
    PLIMSOLL_TRY_ASSIGN(streams.guest_in, sys::Open("/dev/null", O_RDONLY));
  }
  PLIMSOLL_TRY_ASSIGN(sys::Pipe out, sys::MakePipe());
  streams.guest_out = std::move(out.write);
  streams.out = std::move(out.read);
  PLIMSOLL_TRY_ASSIGN(sys::Pipe err, sys::MakePipe());
  streams.guest_err = std::move(err.write);
  streams.err = std::move(err.read);
  return streams;
}

std::uint64_t Milliseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1000 +
         static_cast<std::uint64_t>(time.tv_usec) / 1000;
}

// A run in progress. Its members are what the events change.
class Session {
 public:
  Session(const plan::SandboxPlan& plan, launch::Sandbox sandbox, const launch::RunCgroup* cgroup,
          sys::UniqueFd signals, Streams streams, const Options& options)
      : plan_(plan),
        sandbox_(std::move(sandbox)),
        cgroup_(cgroup),
        signals_(std::move(signals)),
        out_(std::move(streams.out), options.forward_output ? STDOUT_FILENO : -1,
             options.output_limit, sandbox_.init.pidfd.Get()),
        err_(std::move(streams.err), options.forward_output ? STDERR_FILENO : -1,
             options.output_limit, sandbox_.init.pidfd.Get()),
        watchdog_(sandbox_.init.pid, plan.supervision.scratch_path),
        started_(Clock::now()) {
    const plan::Supervision& watched = plan.supervision;
    if (watched.timeout) stop_at_ = started_ + *watched.timeout;
    if (watched.cpu_time || watched.memory_asked) watch_interval_ = kWatchInterval;
    if (watched.cpu_time || watched.memory_bytes) look_at_ = started_ + watch_interval_;
    StartThreads(options.interactive, std::move(streams.in));
  }

  result::RunResult Run() {
    while (!ended_)
      WaitForEvent();
    ReadReports();
    return Conclude();
  }

 private:
  // A command without its input would take nothing for all there is, and one whose refused calls
  // nobody answers would wait for ever, so it is not left to run.
  void StartThreads(bool interactive, sys::UniqueFd input) {
    try {
      if (plan_.listener_route.IsOpen()) {
        learner_.emplace(plan_.listener_route.Get(), plan_.answers);
      }
      if (interactive) InputPump(STDIN_FILENO, std::move(input));
    } catch (const std::system_error& error) {
      ending_.thread_errno = error.code().value();
      Kill();
    }
  }

  void WaitForEvent() {
    std::array<struct pollfd, 4> events = {{{sandbox_.init.pidfd.Get(), POLLIN, 0},
                                            {signals_.Get(), POLLIN, 0},
                                            {out_.PollFd(), POLLIN, 0},
                                            {err_.PollFd(), POLLIN, 0}}};
    const auto wait = TimeToNextDeadline();
    if (::ppoll(events.data(), events.size(), wait ? &*wait : nullptr, nullptr) < 0) {
      if (errno != EINTR) Abandon();
      return;
    }
    out_.Notice(events[2].revents);
    err_.Notice(events[3].revents);
    if (events[1].revents != 0) ForwardSignals();
    ended_ = events[0].revents != 0;
    if (!ended_) CheckDeadlines();
  }

  std::optional<timespec> TimeToNextDeadline() const {
    const auto next = std::min({stop_at_, kill_at_, look_at_});
    if (next == Clock::time_point::max()) return std::nullopt;
    const auto left = std::max(next - Clock::now(), Clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    return timespec{.tv_sec = seconds.count(),
                    .tv_nsec = std::chrono::nanoseconds(left - seconds).count()};
  }

  void CheckDeadlines() {
    const auto now = Clock::now();
    if (now >= kill_at_) return Kill();
    if (now >= stop_at_) {
      Hit("timeout");
      Stop(Cause::kTimedOut);
    }
    if (now >= look_at_) Look(now);
  }

  void Hit(const char* limit) {
    if (std::find(ending_.hit.begin(), ending_.hit.end(), limit) == ending_.hit.end())
      ending_.hit.emplace_back(limit);
  }

  // TERM to every process of the sandbox, and KILL after the grace.
  void Stop(Cause cause) {
    if (!ending_.stopped_for) ending_.stopped_for = cause;
    stop_at_ = Clock::time_point::max();
    kill_at_ = std::min(kill_at_, Clock::now() + plan_.supervision.kill_after);
    Signal(init::kTerminateAllSignal);
  }

  void Kill() {
    kill_at_ = Clock::time_point::max();
    Signal(SIGKILL);  // process 1 dies, and with it every process of its pid namespace
  }

  // A runner that cannot wait for events watches nothing any more, so nothing may go on.
  void Abandon() {
    Kill();
    ended_ = true;
  }

  void Look(Clock::time_point now) {
    look_at_ = now + watch_interval_;
    const auto usage = watchdog_.Measure(false);
    if (!usage) return;
    peak_memory_bytes_ = std::max(peak_memory_bytes_, usage->memory_bytes);
    cpu_seen_ = std::max(cpu_seen_, usage->cpu);
    const plan::Supervision& watched = plan_.supervision;
    if (usage->tasks >= watched.most_tasks) Hit("pids");
    if (watched.cpu_time && usage->cpu >= *watched.cpu_time && !ending_.stopped_for) {
      Hit("cpu-time");
      Stop(Cause::kTimedOut);
    }
    if (!watched.memory_bytes || usage->memory_bytes <= *watched.memory_bytes) return;
    const auto exact = watchdog_.Measure(true);
    if (exact && exact->memory_bytes > *watched.memory_bytes) {
      Hit("memory");
      ending_.stopped_for = Cause::kOutOfMemory;
      Kill();
    }
  }

  void ForwardSignals() {
    while (const int number = NextSignal(signals_.Get()))
      Signal(number);
  }

  void Signal(int number) {
    // A sandbox that has ended meanwhile is what we wanted.
    (void)::syscall(SYS_pidfd_send_signal, sandbox_.init.pidfd.Get(), number, nullptr, 0);
  }

  void ReadReports() {
    init::Report report = {};
    while (::read(sandbox_.report.Get(), &report, sizeof report) ==
           static_cast<ssize_t>(sizeof report)) {
      switch (report.kind) {
        case init::ReportKind::kStepFailed:
          ending_.failed = report;
          break;
        case init::ReportKind::kNotExecuted:
          ending_.not_executed = report;
          break;
        case init::ReportKind::kStarted:
          ending_.began = true;
          break;
        case init::ReportKind::kExited:
          ending_.began = true;
          ending_.wait_status = static_cast<int>(report.value);
          if ((report.flags & init::kScratchFull) != 0) Hit("tmpfs-size");
          peak_memory_bytes_ = std::max(peak_memory_bytes_, std::uint64_t{report.detail} * 1024);
          break;
      }
    }
  }

  result::RunResult Conclude() {
    result::RunResult result;
    struct rusage use = {};
    siginfo_t info = {};
    (void)::syscall(SYS_waitid, P_PIDFD, sandbox_.init.pidfd.Get(), &info, WEXITED, &use);
    ReleaseSignals();
    // Sockets of the guest that hold each other in their queues outlive it, with files and memory,
    // until the kernel looks for such, as it does when any unix socket is closed.
    sys::UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)).Reset();
    result.out = out_.Finish();
    result.err = err_.Finish();
    if (result.out.truncated || result.err.truncated) Hit("output-limit");
    result.usage.wall_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_).count());
    // What the end of process 1 killed was not waited for, so its time is in no one's usage.
    result.usage.cpu_ms = std::max(Milliseconds(use.ru_utime) + Milliseconds(use.ru_stime),
                                   static_cast<std::uint64_t>(cpu_seen_.count()));
    // Init's own figure begins with ours, whose memory it borrowed until its exec.
    result.usage.peak_memory_bytes = peak_memory_bytes_;
    if (cgroup_ != nullptr) UseCgroup(result);
    LookForRunLater(result);
    if (learner_) learner_->Finish(result);
    DecideOutcome(ending_, plan_, result);
    return result;
  }

  // Hooks and tasks that the guest has made at the top of a writable volume.
  void LookForRunLater(result::RunResult& result) const {
    for (const plan::RunLater& entry : plan_.run_later) {
      struct stat status = {};
      if (::lstat(entry.path.c_str(), &status) != 0) continue;
      const bool is_old = status.st_ctim.tv_sec == entry.changed.tv_sec &&
                          status.st_ctim.tv_nsec == entry.changed.tv_nsec;
      if (!is_old) result.run_later.push_back(entry.path);
    }
  }

  // The kernel's own count goes before ours.
  void UseCgroup(result::RunResult& result) {
    const launch::CgroupUse use = cgroup_->Use();
    result.usage.cpu_ms = std::max(result.usage.cpu_ms, use.cpu_ms);
    result.usage.peak_memory_bytes = std::max(peak_memory_bytes_, use.peak_memory_bytes);
    if (use.oom_killed) Hit("memory");
    if (use.oom_killed && !ending_.stopped_for) ending_.stopped_for = Cause::kOutOfMemory;
  }

  const plan::SandboxPlan& plan_;
  launch::Sandbox sandbox_;
  const launch::RunCgroup* cgroup_;  // not owned; null: none
  sys::UniqueFd signals_;
  OutputPump out_;
  OutputPump err_;
  Watchdog watchdog_;
  std::optional<Learner> learner_;
  Clock::time_point started_;
  std::chrono::milliseconds watch_interval_ = kDefaultWatchInterval;

  Clock::time_point stop_at_ = Clock::time_point::max();
  Clock::time_point kill_at_ = Clock::time_point::max();
  Clock::time_point look_at_ = Clock::time_point::max();
  bool ended_ = false;
  Ending ending_;
  std::chrono::milliseconds cpu_seen_{0};  // the most that the watchdog has added up
  std::uint64_t peak_memory_bytes_ = 0;    // the largest that was seen
};

result::RunResult Refused(Error error) {
  result::RunResult result;
  result.error = std::move(error);
  return result;
}

}  // namespace

result::RunResult Execute(const plan::SandboxPlan& plan, const Options& options) {
  std::optional<launch::RunCgroup> cgroup;
  if (!plan.cgroup.parent.empty()) {
    auto made = launch::RunCgroup::Make(plan.cgroup);
    if (!made) return Refused(std::move(made).error());
    cgroup = *std::move(made);
  }
  auto signals = TakeSignals();
  if (!signals) return Refused(std::move(signals).error());
  auto streams = MakeStreams(options.interactive);
  if (!streams) return Refused(std::move(streams).error());
  auto sandbox = launch::Spawn(plan,
                               {.in = streams->guest_in.Get(),
                                .out = streams->guest_out.Get(),
                                .err = streams->guest_err.Get()},
                               cgroup ? cgroup->Fd() : -1);
  if (!sandbox) return Refused(std::move(sandbox).error());
  // Only now: the child of an undumpable process could not have written its id maps.
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // cannot fail with 0
  streams->guest_in.Reset();
  streams->guest_out.Reset();
  streams->guest_err.Reset();
  // On the heap: the pumps' threads hold its address.
  return std::make_unique<Session>(plan, *std::move(sandbox), cgroup ? &*cgroup : nullptr,
                                   *std::move(signals), *std::move(streams), options)
      ->Run();
}

}  // namespace plimsoll::run
