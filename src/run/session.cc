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
#include <deque>
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
#include "run/streams.h"
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
        artifacts_(std::move(streams.artifacts), plan.artifacts, options.artifacts),
        watchdog_(sandbox_.init.pid, plan.supervision.scratch_path),
        started_(Clock::now()) {
    const plan::Supervision& watched = plan.supervision;
    ending_.commands.resize(plan.commands.size());
    for (std::size_t i = 0; i < streams.output.size(); ++i) {
      const int forward_fd = i % 2 == 0 ? STDOUT_FILENO : STDERR_FILENO;
      pumps_.emplace_back(std::move(streams.output[i]), options.forward_output ? forward_fd : -1,
                          options.output_limit, sandbox_.init.pidfd.Get());
    }
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
    events_.assign({{sandbox_.init.pidfd.Get(), POLLIN, 0}, {signals_.Get(), POLLIN, 0}});
    for (const OutputPump& pump : pumps_)
      events_.push_back({pump.PollFd(), POLLIN, 0});
    if (artifacts_.PollFd() >= 0) events_.push_back({artifacts_.PollFd(), POLLIN, 0});
    const auto wait = TimeToNextDeadline();
    if (::ppoll(events_.data(), events_.size(), wait ? &*wait : nullptr, nullptr) < 0) {
      if (errno != EINTR) Abandon();
      return;
    }
    for (std::size_t i = 0; i < pumps_.size(); ++i)
      pumps_[i].Notice(events_[2 + i].revents);
    if (events_.size() > 2 + pumps_.size() && events_.back().revents != 0) artifacts_.Read();
    if (events_[1].revents != 0) ForwardSignals();
    ended_ = events_[0].revents != 0;
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
      if (report.command >= ending_.commands.size()) continue;
      CommandEnding& command = ending_.commands[report.command];
      switch (report.kind) {
        case init::ReportKind::kStepFailed:
          ending_.failed = report;
          break;
        case init::ReportKind::kNotExecuted:
          command.not_executed = report;
          break;
        case init::ReportKind::kStarted:
          command.began = true;
          break;
        case init::ReportKind::kExited:
          command.began = true;
          command.wait_status = static_cast<int>(report.value);
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
    std::vector<result::Stream> streams;
    for (OutputPump& pump : pumps_) {
      streams.push_back(pump.Finish());
      if (streams.back().truncated) Hit("output-limit");
    }
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
    // A run that never began has nothing to bring.
    if (result.ran != result::Ran::kNo) artifacts_.Finish(result);
    for (std::size_t i = 0; i < result.steps.size(); ++i) {
      result.steps[i].out = std::move(streams[2 * i]);
      result.steps[i].err = std::move(streams[2 * i + 1]);
    }
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
  std::deque<OutputPump> pumps_;  // as Streams::output; their threads hold their addresses
  ArtifactIntake artifacts_;
  std::vector<struct pollfd> events_;
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
  auto streams = MakeStreams(plan.commands.size(), options.interactive, !plan.artifacts.empty());
  if (!streams) return Refused(std::move(streams).error());
  auto sandbox = launch::Spawn(plan, streams->ForGuest(), cgroup ? cgroup->Fd() : -1);
  if (!sandbox) return Refused(std::move(sandbox).error());
  // Only now: the child of an undumpable process could not have written its id maps.
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // cannot fail with 0
  streams->CloseGuest();
  // On the heap: the pumps' threads hold its address.
  const auto session =
      std::make_unique<Session>(plan, *std::move(sandbox), cgroup ? &*cgroup : nullptr,
                                *std::move(signals), *std::move(streams), options);
  if (options.meanwhile) options.meanwhile();
  return session->Run();
}

}  // namespace plimsoll::run
