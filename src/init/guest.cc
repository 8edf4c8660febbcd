// The guest's own steps, in its process: session, directory, Landlock, filter, and the program
// itself.
//
// This process shares its memory with init until it executes the guest (CLONE_VM | CLONE_VFORK), so
// what it finds out is simply written down.

#include <asm/errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/signal.h>
#include <linux/stat.h>

#include "init/steps.h"
#include "init/syscall.h"

namespace plimsoll::init {
namespace {

constexpr uint32_t kMaxArguments = 1U << 18U;
constexpr uint32_t kMaxPathBytes = 4096;

int ErrnoOf(long result) {
  return result < 0 ? static_cast<int>(-result) : 0;
}

// landlock_ruleset_attr of the newest ABI that we use; a kernel that knows less takes the members
// it knows as long as the others are 0 (landlock_create_ruleset(2)), so the size follows from them.
struct RulesetAttr {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

int LandlockRuleset(const Step& step, State& state) {
  const RulesetAttr attr = {step.number[0], step.number[1], step.number[2]};
  const uint64_t size = attr.scoped != 0 ? 24 : attr.handled_access_net != 0 ? 16 : 8;
  const long fd = Syscall(__NR_landlock_create_ruleset, &attr, size, 0);
  if (fd < 0) return ErrnoOf(fd);
  state.landlock = static_cast<int>(fd);
  return 0;
}

int LandlockRule(const PlanView& plan, const Step& step, const State& state) {
  const long path = Syscall(__NR_open, plan.Text(step, 0), O_PATH | O_CLOEXEC);
  if (path < 0) return ErrnoOf(path);
  struct landlock_path_beneath_attr attr = {};
  attr.allowed_access = step.number[0];
  attr.parent_fd = static_cast<int>(path);
  const long result =
      Syscall(__NR_landlock_add_rule, state.landlock, LANDLOCK_RULE_PATH_BENEATH, &attr, 0);
  Syscall(__NR_close, path);
  return ErrnoOf(result);
}

int Seccomp(const Step& step, Blob program, State& state) {
  if (program.size == 0 || program.size % sizeof(struct sock_filter) != 0) return EINVAL;
  const uint64_t instructions = program.size / sizeof(struct sock_filter);
  if (instructions > BPF_MAXINSNS) return EINVAL;
  struct sock_fprog attr = {};
  attr.len = static_cast<unsigned short>(instructions);
  attr.filter =
      const_cast<struct sock_filter*>(reinterpret_cast<const struct sock_filter*>(program.data));
  if (step.number[0] == 0) {
    return ErrnoOf(Syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &attr));
  }
  const long listener =
      Syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &attr);
  if (listener < 0) return ErrnoOf(listener);
  state.listener = static_cast<int>(listener);
  return 0;
}

// Where init shares its descriptors with us for the listener's sake, they go at the exec, which
// begins with a table of our own.
int CloseDescriptors(const Step& step) {
  constexpr int kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC
  return ErrnoOf(Syscall(__NR_close_range, 3, ~0U, step.number[0] != 0 ? kCloseOnExec : 0));
}

bool Exists(const char* path) {
  struct statx status = {};
  return Syscall(__NR_statx, AT_FDCWD, path, 0, STATX_TYPE, &status) >= 0;
}

bool HasSlash(const char* text) {
  for (; *text != 0; ++text) {
    if (*text == '/') return true;
  }
  return false;
}

// Writes "directory/name" into `out`; an empty directory is the current one. False when too long.
bool Join(const char* directory, uint32_t length, const char* name, char* out) {
  uint32_t size = 0;
  for (; size < length; ++size) {
    if (size + 2 >= kMaxPathBytes) return false;
    out[size] = directory[size];
  }
  if (length > 0) out[size++] = '/';
  for (; *name != 0; ++name) {
    if (size + 1 >= kMaxPathBytes) return false;
    out[size++] = *name;
  }
  out[size] = 0;
  return true;
}

// Calls `visit` with every "directory/NAME" of the search path until it returns true.
template <typename Visit>
void SearchPath(const char* path, const char* name, const Visit& visit) {
  static char candidate[kMaxPathBytes];
  for (;;) {
    uint32_t length = 0;
    while (path[length] != 0 && path[length] != ':')
      ++length;
    if (Join(path, length, name, candidate) && visit(candidate)) return;
    path += length;
    if (*path++ == 0) return;
  }
}

bool MayBeElsewhere(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES;
}

// As execvp(3), but a script without an interpreter line is not handed to a shell. Returns the
// errno; a file that was there but could not be executed goes before files that were not there,
// which only a search that has failed needs to know.
int ExecuteByPath(const char* path, char** arguments, char** environment, bool& found) {
  int error = ENOENT;
  SearchPath(path, arguments[0], [&](const char* candidate) {
    error = ErrnoOf(Syscall(__NR_execve, candidate, arguments, environment));
    found = !MayBeElsewhere(error);
    return found;
  });
  if (found) return error;
  error = ENOENT;
  SearchPath(path, arguments[0], [&](const char* candidate) {
    found = Exists(candidate);
    // It was not executable, or its interpreter is missing: the same answer as a moment ago.
    if (found) error = ErrnoOf(Syscall(__NR_execve, candidate, arguments, environment));
    return found;
  });
  return error;
}

int Execute(const char* path, char** arguments, char** environment, bool& found) {
  if (arguments[0][0] == 0) return ENOENT;
  if (!HasSlash(arguments[0])) return ExecuteByPath(path, arguments, environment, found);
  const int error = ErrnoOf(Syscall(__NR_execve, arguments[0], arguments, environment));
  found = (error != ENOENT && error != ENOTDIR) || Exists(arguments[0]);
  return error;
}

// The blob's strings as an argument vector and an environment.
bool Vectors(Blob blob, const Step& step, char** out) {
  const uint64_t wanted = step.number[0] + step.number[1];
  if (step.number[0] == 0 || step.number[0] > kMaxArguments || step.number[1] > kMaxArguments) {
    return false;
  }
  if (blob.size == 0 || blob.data[blob.size - 1] != 0) return false;
  auto* bytes = reinterpret_cast<char*>(const_cast<unsigned char*>(blob.data));
  uint64_t count = 0;
  uint32_t start = 0;
  for (uint32_t at = 0; at < blob.size; ++at) {
    if (bytes[at] != 0) continue;
    if (count == wanted) return false;
    // One slot is left free behind the arguments and one behind the environment, for the null.
    out[count + (count >= step.number[0] ? 1 : 0)] = bytes + start;
    start = at + 1;
    ++count;
  }
  return count == wanted;
}

}  // namespace

int DoGuestStep(const PlanView& plan, const Step& step, State& state) {
  switch (step.kind) {
    case StepKind::kNewSession:
      return ErrnoOf(Syscall(__NR_setsid));
    case StepKind::kWorkingDirectory:
      return ErrnoOf(Syscall(__NR_chdir, plan.Text(step, 0)));
    case StepKind::kLandlockRuleset:
      return LandlockRuleset(step, state);
    case StepKind::kLandlockRule:
      return LandlockRule(plan, step, state);
    case StepKind::kLandlockRestrict:
      return ErrnoOf(Syscall(__NR_landlock_restrict_self, state.landlock, 0));
    case StepKind::kCloseDescriptors:
      return CloseDescriptors(step);
    case StepKind::kSeccomp:
      return Seccomp(step, plan.BlobOf(step), state);
    default:
      return EINVAL;
  }
}

int ExecuteGuest(const PlanView& plan, const Step& step, bool& tried, bool& found) {
  // Zeroed pages of its own, since the counts come from the plan: the vectors and their two nulls.
  const uint64_t slots = step.number[0] + step.number[1] + 2;
  if (slots > 2 * uint64_t{kMaxArguments} + 2) return E2BIG;
  const long pages = Syscall(__NR_mmap, nullptr, slots * sizeof(char*), 3 /* read, write */,
                             0x22 /* private, anonymous */, -1, 0);
  if (pages < 0) return ErrnoOf(pages);
  auto** arguments = reinterpret_cast<char**>(static_cast<uintptr_t>(pages));
  if (!Vectors(plan.BlobOf(step), step, arguments)) return EINVAL;
  char** environment = arguments + step.number[0] + 1;
  const uint64_t empty = 0;
  const long unblocked = Syscall(__NR_rt_sigprocmask, SIG_SETMASK, &empty, nullptr, sizeof empty);
  if (unblocked < 0) return ErrnoOf(unblocked);
  const int error = Execute(plan.Text(step, 0), arguments, environment, found);
  tried =
      true;  // written only now, since init sees it: after an execve that works nobody gets here
  return error;
}

}  // namespace plimsoll::init
