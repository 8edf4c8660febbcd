#include "init/pid1.h"

#include <asm/errno.h>
#include <asm/statfs.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/stat.h>
#include <linux/wait.h>

#include "init/steps.h"
#include "init/syscall.h"

namespace plimsoll::init {
namespace {

constexpr int kSetupFailed = 125;
constexpr uint64_t kAllSignals = ~uint64_t{0};
constexpr int kGuestStackBytes = 16384;
constexpr int kNotGuest = -1;

// What a guest's process found out before it became the guest, written through shared memory.
struct Course {
  const PlanView* plan;
  State* state;
  uint32_t command;  // which one it is to execute, from 0
  uint32_t failed_step;
  int error;      // 0: the guest runs
  bool executed;  // every step was done, and execve itself failed
  bool found;     // the file that could not be executed was there
};

// Where the parts of a plan begin.
struct Parts {
  uint32_t guest;  // the first step of a guest's process
  uint32_t exec;   // the first kExec
  uint32_t after;  // behind the last kExec
};

void Send(ReportKind kind, uint32_t command, uint32_t value, uint32_t detail, uint32_t flags = 0) {
  const Report report = {kind, value, detail, flags, command};
  // A pipe takes 20 bytes whole or not at all; when nobody reads, nobody is left to tell.
  Syscall(__NR_write, kReportFd, &report, sizeof report);
}

[[noreturn]] void FailStep(uint32_t index, int error, uint32_t command = 0) {
  Send(ReportKind::kStepFailed, command, index, static_cast<uint32_t>(error));
  Exit(kSetupFailed);
}

// A plan that cannot be read at all fails as a step behind any last one.
[[noreturn]] void FailPlan(long result) {
  FailStep(kMaxSteps, static_cast<int>(-result));
}

void MapPlan(PlanView& plan) {
  struct statx status = {};
  const long found =
      Syscall(__NR_statx, kPlanFd, "", 0x1000 /* AT_EMPTY_PATH */, STATX_SIZE, &status);
  if (found < 0) FailPlan(found);
  const long address =
      Syscall(__NR_mmap, nullptr, status.stx_size, PROT_READ, MAP_PRIVATE, kPlanFd, 0);
  if (address < 0) FailPlan(address);
  Syscall(__NR_close, kPlanFd);
  const auto* bytes = reinterpret_cast<const unsigned char*>(static_cast<uintptr_t>(address));
  if (!plan.Parse(bytes, status.stx_size)) FailPlan(-EBADMSG);
}

bool IsMountStep(StepKind kind) {
  return (kind >= StepKind::kPrivateMounts && kind <= StepKind::kSetting) ||
         kind == StepKind::kPivotRoot;
}

// Carries out the steps of init's own phase; the index of the guest's first step.
uint32_t RunInitPhase(const PlanView& plan, State& state) {
  uint32_t index = 0;
  for (; index < plan.StepCount(); ++index) {
    const Step& step = plan.At(index);
    if (step.phase == Phase::kLaunch) continue;  // done before this program was started
    if (step.phase == Phase::kGuest) break;
    const int error =
        IsMountStep(step.kind) ? DoMountStep(plan, step, state) : DoIdentityStep(plan, step);
    if (error != 0) FailStep(index, error);
  }
  return index;
}

// Finds the guests' steps; a plan in which they are not in their places fails before anything runs.
Parts FindParts(const PlanView& plan, uint32_t guest) {
  Parts parts = {guest, guest, guest};
  while (parts.exec < plan.StepCount() && plan.At(parts.exec).phase == Phase::kGuest &&
         plan.At(parts.exec).kind != StepKind::kExec) {
    ++parts.exec;
  }
  parts.after = parts.exec;
  for (; parts.after < plan.StepCount() && plan.At(parts.after).phase == Phase::kGuest;
       ++parts.after) {
    if (plan.At(parts.after).kind != StepKind::kExec) FailStep(parts.after, EINVAL);
  }
  if (parts.after == parts.exec) FailStep(guest, ENOEXEC);
  for (uint32_t index = parts.after; index < plan.StepCount(); ++index) {
    if (plan.At(index).kind != StepKind::kArtifact) FailStep(index, EINVAL);
  }
  return parts;
}

// Whether the guest's filter is to have a listener; its socket is then kept in `state`. The
// descriptor of a listener comes to be in the process that loads the filter, so that one has to
// share its descriptors with us.
bool PrepareListener(const PlanView& plan, const Parts& parts, State& state) {
  bool closes_ours = false;  // in a table that is shared, what the guest closes is closed here
  for (uint32_t index = parts.guest; index < parts.exec; ++index) {
    const Step& step = plan.At(index);
    if (step.kind == StepKind::kCloseDescriptors) closes_ours = step.number[0] == 0;
    if (step.kind != StepKind::kSeccomp || step.number[0] == 0) continue;
    // The listener goes out over a socket that takes one.
    if (closes_ours || parts.after - parts.exec > 1) FailStep(index, EINVAL);
    state.listener_route = kFirstPassedFd + static_cast<long>(step.number[1]);
    return true;
  }
  return false;
}

// One byte with the listener's descriptor (unix(7), SCM_RIGHTS). Without it every call that is
// refused would wait for ever, so a failure ends the run.
void SendListener(const State& state) {
  struct Control {
    size_t length;
    int level;
    int type;
    int fd;
    int padding;
  } control = {sizeof(size_t) + 3 * sizeof(int), 1 /* SOL_SOCKET */, 1 /* SCM_RIGHTS */,
               state.listener, 0};
  char byte = 0;
  struct {
    void* base;
    size_t length;
  } part = {&byte, 1};
  struct {
    void* name;
    int name_length;
    void* parts;
    size_t part_count;
    void* control;
    size_t control_length;
    int flags;
  } message = {nullptr, 0, &part, 1, &control, sizeof control, 0};
  const long sent =
      Syscall(__NR_sendmsg, state.listener_route, &message, 0x4000 /* MSG_NOSIGNAL */);
  if (sent < 0) Exit(kSetupFailed);
  Syscall(__NR_close, state.listener);
  Syscall(__NR_close, state.listener_route);
}

// A guest's process, until it is the guest. `argument` is a Course whose failed_step is the first
// step to do.
void BecomeGuest(void* argument) {
  Course& course = *static_cast<Course*>(argument);
  const PlanView& plan = *course.plan;
  for (; plan.At(course.failed_step).kind != StepKind::kExec; ++course.failed_step) {
    course.error = DoGuestStep(plan, plan.At(course.failed_step), *course.state);
    if (course.error != 0) Exit(kSetupFailed);
  }
  course.failed_step += course.command;
  course.error = ExecuteGuest(plan, plan.At(course.failed_step), course.executed, course.found);
  Exit(kSetupFailed);
}

// Reaps whatever has ended; the wait status of `guest` once it has, kNotGuest before.
int Reap(long guest) {
  for (;;) {
    int status = 0;
    const long pid = Syscall(__NR_wait4, -1, &status, WNOHANG | __WALL, nullptr);
    if (pid == 0) return kNotGuest;
    if (pid < 0) Exit(kSetupFailed);  // without an answer the run would never end
    if (pid == guest) return status;
  }
}

uint32_t ScratchFlags(const char* path) {
  struct statfs64 status = {};
  if (path[0] == 0 || Syscall(__NR_statfs, path, &status) < 0) return 0;
  const bool full = status.f_bfree == 0 || status.f_ffree == 0;
  return full ? uint32_t{kScratchFull} : 0U;
}

// The largest resident set among the processes that were reaped, in KiB; 0 when it cannot be told.
uint32_t PeakKilobytes() {
  constexpr int kChildren = -1;
  struct {
    int64_t times[4];
    int64_t max_rss;
    int64_t rest[13];
  } usage = {};
  if (Syscall(__NR_getrusage, kChildren, &usage) < 0) return 0;
  return static_cast<uint32_t>(usage.max_rss);
}

// Signals for the guest come from the runner, whose pid reads 0 in here; those that the guest's own
// processes send to process 1 are dropped. With another code than SI_USER they write that pid
// themselves (rt_sigqueueinfo(2)).
bool IsFromRunner(const siginfo_t& info) {
  return info.si_code == SI_USER && info.si_pid == 0;
}

void Forward(int signal, const siginfo_t& info, long guest, State& state) {
  if (!IsFromRunner(info)) return;
  if (signal == kTerminateAllSignal) {
    state.is_ending = true;
    Syscall(__NR_kill, -1, SIGTERM);
  } else {
    Syscall(__NR_kill, -guest, signal);
  }
}

// Process 1 while a command runs: reap, forward; the wait status of its first process.
int ServeAsInit(long guest, State& state) {
  for (;;) {
    siginfo_t info = {};
    const long signal =
        Syscall(__NR_rt_sigtimedwait, &kAllSignals, &info, nullptr, sizeof kAllSignals);
    if (signal == SIGCHLD) {
      const int status = Reap(guest);
      if (status != kNotGuest) return status;
    } else if (signal > 0) {
      Forward(static_cast<int>(signal), info, guest, state);
    }
  }
}

// The streams of the next command take the place of the last one's, which end with that: nobody
// else in here has them.
int PlaceStreams(const Step& exec) {
  if (exec.number[2] == 0) return 0;
  for (long stream = 1; stream <= 2; ++stream) {
    const long fd = static_cast<long>(exec.number[2]) + stream - 1;
    const long placed = Syscall(__NR_dup2, fd, stream);
    if (placed < 0) return static_cast<int>(-placed);
    Syscall(__NR_close, fd);
  }
  return 0;
}

// Whether the runner has asked for the end of the run, maybe at the very end of a command.
bool IsEnding(State& state) {
  constexpr uint64_t kThatSignal = uint64_t{1} << (kTerminateAllSignal - 1);
  const int64_t at_once[2] = {0, 0};
  siginfo_t info = {};
  while (Syscall(__NR_rt_sigtimedwait, &kThatSignal, &info, &at_once[0], sizeof kThatSignal) > 0) {
    state.is_ending = state.is_ending || IsFromRunner(info);
  }
  return state.is_ending;
}

// Ends what a command has left behind, and waits for it: its output is then complete, and whatever
// comes next starts from files alone. kill(2) reaches every process at once, those that are being
// born too; a process whose parent has ended is ours to wait for. Without certainty nothing may
// follow.
void EndGuests() {
  for (;;) {
    const long killed = Syscall(__NR_kill, -1, SIGKILL);
    if (killed < 0 && killed != -ESRCH) Exit(kSetupFailed);
    const long reaped = Syscall(__NR_wait4, -1, nullptr, __WALL, nullptr);
    if (reaped == -ECHILD) return;
    if (reaped < 0) Exit(kSetupFailed);
  }
}

// The process of the next command, in the guest's program already; 0 when that could not be
// executed, which is reported.
long StartCommand(Course& course, const Parts& parts, uint64_t clone_flags) {
  alignas(16) static unsigned char stack[kGuestStackBytes];
  course.failed_step = parts.guest;
  course.executed = false;
  if (RunnerIsGone()) FailStep(parts.guest, EPIPE, course.command);
  const uint32_t exec = parts.exec + course.command;
  const int error = PlaceStreams(course.plan->At(exec));
  if (error != 0) FailStep(exec, error, course.command);
  const long guest = CloneVfork(BecomeGuest, &course, &stack[kGuestStackBytes], clone_flags);
  if (guest < 0) FailStep(parts.guest, static_cast<int>(-guest), course.command);
  if (course.executed) {
    Send(ReportKind::kNotExecuted, course.command, static_cast<uint32_t>(course.error),
         course.found ? 1 : 0);
    return 0;
  }
  if (course.error != 0) FailStep(course.failed_step, course.error, course.command);
  if (course.state->listener >= 0) SendListener(*course.state);
  Send(ReportKind::kStarted, course.command, 0, 0);
  return guest;
}

// Runs the commands in turn, up to the first that fails. When there is nothing to do behind the
// last one, its processes are left to the end of process 1, with which the kernel ends the pid
// namespace.
void RunCommands(Course& course, const Parts& parts, uint64_t clone_flags) {
  const uint32_t count = parts.after - parts.exec;
  const bool is_last_deed = parts.after == course.plan->StepCount();
  for (; course.command < count; ++course.command) {
    const long guest = StartCommand(course, parts, clone_flags);
    if (guest == 0 && course.command == 0) Exit(kSetupFailed);  // nothing of the guest has run
    if (guest == 0) return;
    const int status = ServeAsInit(guest, *course.state);
    Send(ReportKind::kExited, course.command, static_cast<uint32_t>(status), PeakKilobytes(),
         ScratchFlags(course.state->scratch_path));
    if (is_last_deed && (status != 0 || course.command + 1 == count)) return;
    EndGuests();
    if (status != 0 || IsEnding(*course.state)) return;
  }
}

}  // namespace

[[noreturn]] void RunPlan() {
  // Blocked signals are kept for rt_sigtimedwait(2) even where process 1 would ignore them.
  Syscall(__NR_rt_sigprocmask, SIG_SETMASK, &kAllSignals, nullptr, sizeof kAllSignals);
  Syscall(__NR_prctl, PR_SET_NAME, "plimsoll-init");  // for ps(1) on the host, and the watchdog
  PlanView plan;
  MapPlan(plan);
  State state;
  const Parts parts = FindParts(plan, RunInitPhase(plan, state));
  const uint64_t shared = PrepareListener(plan, parts, state) ? CLONE_FILES : 0;
  Course course = {&plan, &state, 0, 0, 0, false, false};
  RunCommands(course, parts, shared);
  for (uint32_t index = parts.after; index < plan.StepCount(); ++index)
    SendArtifact(plan, plan.At(index), index - parts.after);
  Exit(0);
}

}  // namespace plimsoll::init
