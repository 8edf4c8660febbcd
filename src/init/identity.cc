// Steps about the process itself: its limits, capabilities, names, and the loopback device.

#include <asm/errno.h>
#include <linux/capability.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/signal.h>
#include <linux/sockios.h>

#include "init/steps.h"
#include "init/syscall.h"

namespace plimsoll::init {
namespace {

constexpr int kSignals = 64;
constexpr int kIffUp = 1;
constexpr uint64_t kRlimitCpu = 0;  // RLIMIT_CPU of <sys/resource.h>, which is libc's

// struct ifreq of netdevice(7), as far as the flags go; libc's header does not fit in here.
struct InterfaceRequest {
  char name[16];
  short flags;
  char rest[22];
};
static_assert(sizeof(InterfaceRequest) == 40);

struct Limit64 {
  uint64_t soft;
  uint64_t hard;
};

int ErrnoOf(long result) {
  return result < 0 ? static_cast<int>(-result) : 0;
}

uint64_t Length(const char* text) {
  uint64_t length = 0;
  while (text[length] != 0)
    ++length;
  return length;
}

// A vfork-suspended runner that is killed leaves its child alive, and no parent's death is
// signalled that happened before the request; the report pipe without a reader tells of that case.
int DieWithRunner() {
  const int error = ErrnoOf(Syscall(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL));
  if (error != 0) return error;
  return RunnerIsGone() ? EPIPE : 0;
}

int LoopbackUp() {
  const long fd = Syscall(__NR_socket, 2 /* AF_INET */, 2 /* SOCK_DGRAM */ | 02000000, 0);
  if (fd < 0) return ErrnoOf(fd);
  InterfaceRequest request = {{'l', 'o'}, 0, {}};
  long result = Syscall(__NR_ioctl, fd, SIOCGIFFLAGS, &request);
  if (result >= 0) {
    request.flags = static_cast<short>(request.flags | kIffUp);
    result = Syscall(__NR_ioctl, fd, SIOCSIFFLAGS, &request);
  }
  Syscall(__NR_close, fd);
  return ErrnoOf(result);
}

// The bounding set first: dropping from it needs CAP_SETPCAP.
int DropCapabilities(uint64_t last) {
  for (uint64_t capability = 0; capability <= last; ++capability) {
    const long result = Syscall(__NR_prctl, PR_CAPBSET_DROP, capability);
    if (result < 0) return ErrnoOf(result);
  }
  const long result = Syscall(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL);
  if (result < 0) return ErrnoOf(result);
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  return ErrnoOf(Syscall(__NR_capset, &header, &none[0]));
}

// No processor time at all would end init by SIGKILL before it could say which step that was.
int SetLimit(const Step& step) {
  if (step.number[0] == kRlimitCpu && (step.number[1] == 0 || step.number[2] == 0)) return EINVAL;
  const Limit64 limit = {step.number[1], step.number[2]};
  return ErrnoOf(Syscall(__NR_prlimit64, 0, step.number[0], &limit, nullptr));
}

// What a shell ignored before it started the runner (nohup, "&") is not the guest's business.
int DefaultSignals() {
  struct KernelSigaction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    uint64_t mask;
  } action = {};
  for (int number = 1; number <= kSignals; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    const long result = Syscall(__NR_rt_sigaction, number, &action, nullptr, sizeof action.mask);
    if (result < 0) return ErrnoOf(result);
  }
  return 0;
}

}  // namespace

bool RunnerIsGone() {
  struct pollfd report = {kReportFd, 0, 0};
  const int64_t at_once[2] = {0, 0};
  const long ready = Syscall(__NR_ppoll, &report, 1, &at_once[0], nullptr, sizeof(uint64_t));
  return ready != 0;  // an error counts as gone: fail closed
}

int DoIdentityStep(const PlanView& plan, const Step& step) {
  switch (step.kind) {
    case StepKind::kDieWithRunner:
      return DieWithRunner();
    case StepKind::kHostname: {
      const char* name = plan.Text(step, 0);
      return ErrnoOf(Syscall(__NR_sethostname, name, Length(name)));
    }
    case StepKind::kLoopbackUp:
      return LoopbackUp();
    case StepKind::kResourceLimit:
      return SetLimit(step);
    case StepKind::kUmask:
      Syscall(__NR_umask, step.number[0]);
      return 0;
    case StepKind::kNoNewPrivileges:
      return ErrnoOf(Syscall(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1));
    case StepKind::kDropCapabilities:
      return DropCapabilities(step.number[0]);
    case StepKind::kHideInit:
      return ErrnoOf(Syscall(__NR_prctl, PR_SET_DUMPABLE, 0));
    case StepKind::kDefaultSignals:
      return DefaultSignals();
    default:
      return EINVAL;
  }
}

}  // namespace plimsoll::init
