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

// What the guest's process found out before it became the guest, written through shared memory.
struct Course {
  const PlanView* plan;
  State* state;
  uint32_t failed_step;
  int error;      // 0: the guest runs
  bool executed;  // every step was done, and execve itself failed
  bool found;     // the file that could not be executed was there
};

void Send(ReportKind kind, uint32_t value, uint32_t detail, uint32_t flags = 0) {
  const Report report = {kind, value, detail, flags};
  // A pipe takes 16 bytes whole or not at all; when nobody reads, nobody is left to tell.
  Syscall(__NR_write, kReportFd, &report, sizeof report);
}

[[noreturn]] void FailStep(uint32_t index, int error) {
  Send(ReportKind::kStepFailed, index, static_cast<uint32_t>(error));
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

// Whether the guest's filter is to have a listener; its socket is then kept in `state`. The
// descriptor of a listener comes to be in the process that loads the filter, so that one has to
// share its descriptors with us.
bool PrepareListener(const PlanView& plan, uint32_t first, State& state) {
  bool closes_ours = false;  // in a table that is shared, what the guest closes is closed here
  for (uint32_t index = first; index < plan.StepCount(); ++index) {
    const Step& step = plan.At(index);
    if (step.kind == StepKind::kCloseDescriptors) closes_ours = step.number[0] == 0;
    if (step.kind != StepKind::kSeccomp || step.number[0] == 0) continue;
    if (closes_ours) FailStep(index, EINVAL);
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

// The guest's process, until it is the guest. `argument` is a Course whose failed_step is the first
// step to do.
void BecomeGuest(void* argument) {
  Course& course = *static_cast<Course*>(argument);
  const PlanView& plan = *course.plan;
  for (; course.failed_step < plan.StepCount(); ++course.failed_step) {
    const Step& step = plan.At(course.failed_step);
    if (step.kind == StepKind::kExec) {
      course.error = ExecuteGuest(plan, step, course.executed, course.found);
      Exit(kSetupFailed);
    }
    course.error = DoGuestStep(plan, step, *course.state);
    if (course.error != 0) Exit(kSetupFailed);
  }
  course.error = ENOEXEC;  // a plan without kExec
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
void Forward(int signal, const siginfo_t& info, long guest) {
  if (info.si_code != SI_USER || info.si_pid != 0) return;
  if (signal == kTerminateAllSignal) {
    Syscall(__NR_kill, -1, SIGTERM);
  } else {
    Syscall(__NR_kill, -guest, signal);
  }
}

// Process 1 for the rest of the run: reap, forward, and end with the guest; the kernel then ends
// every process that is left in the pid namespace.
[[noreturn]] void ServeAsInit(long guest, const State& state) {
  for (;;) {
    siginfo_t info = {};
    const long signal =
        Syscall(__NR_rt_sigtimedwait, &kAllSignals, &info, nullptr, sizeof kAllSignals);
    if (signal == SIGCHLD) {
      const int status = Reap(guest);
      if (status == kNotGuest) continue;
      Send(ReportKind::kExited, static_cast<uint32_t>(status), PeakKilobytes(),
           ScratchFlags(state.scratch_path));
      Exit(0);
    }
    if (signal > 0) Forward(static_cast<int>(signal), info, guest);
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
  Course course = {&plan, &state, RunInitPhase(plan, state), 0, false, false};
  if (RunnerIsGone()) FailStep(course.failed_step, EPIPE);
  alignas(16) static unsigned char stack[kGuestStackBytes];
  const uint64_t shared = PrepareListener(plan, course.failed_step, state) ? CLONE_FILES : 0;
  const long guest = CloneVfork(BecomeGuest, &course, &stack[kGuestStackBytes], shared);
  if (guest < 0) FailStep(course.failed_step, static_cast<int>(-guest));
  if (course.executed) {
    Send(ReportKind::kNotExecuted, static_cast<uint32_t>(course.error), course.found ? 1 : 0);
    Exit(kSetupFailed);
  }
  if (course.error != 0) FailStep(course.failed_step, course.error);
  if (state.listener >= 0) SendListener(state);
  Send(ReportKind::kStarted, 0, 0);
  ServeAsInit(guest, state);
}

}  // namespace plimsoll::init
