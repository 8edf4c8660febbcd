// Mount steps: a private mount namespace, the scratch tmpfs, the guest's root and what is mounted
// in it.
//
// Every target is opened below the new root with openat2(2), never through a symbolic link, and
// what is mounted goes to that descriptor; an image cannot lead a mount elsewhere.

#include <asm/errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#include "init/steps.h"
#include "init/syscall.h"

namespace plimsoll::init {
namespace {

constexpr unsigned long kMsRec = 0x4000;
constexpr unsigned long kMsPrivate = 1UL << 18U;
constexpr int kMntDetach = 2;
constexpr int kAtEmptyPath = 0x1000;
constexpr int kAtRecursive = 0x8000;
constexpr int kAtNoAutomount = 0x800;
constexpr uint64_t kInRoot = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;

int ErrnoOf(long result) {
  return result < 0 ? static_cast<int>(-result) : 0;
}

long OpenPath(int dir, const char* path, uint64_t resolve) {
  struct open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = resolve;
  return Syscall(__NR_openat2, dir, path, &how, sizeof how);
}

long OpenInRoot(const State& state, const char* target) {
  return OpenPath(state.root, target, kInRoot);
}

int Close(long fd) {
  Syscall(__NR_close, fd);
  return 0;
}

// Adds attributes and never clears one: what the host locked (nosuid, nodev) stays in force.
int AddAttributes(long mount, uint64_t attributes, int recursive) {
  if (attributes == 0) return 0;
  struct mount_attr attr = {};
  attr.attr_set = attributes;
  return ErrnoOf(
      Syscall(__NR_mount_setattr, mount, "", kAtEmptyPath | recursive, &attr, sizeof attr));
}

// Moves the detached mount `mount` onto the opened `target`.
int Attach(long mount, long target) {
  return ErrnoOf(Syscall(__NR_move_mount, mount, "", target, "",
                         MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
}

int PrivateMounts() {
  return ErrnoOf(Syscall(__NR_mount, nullptr, "/", nullptr, kMsRec | kMsPrivate, nullptr));
}

// The host's /proc is the one directory that is always there, and nothing after this step needs it.
int Scratch(const PlanView& plan, const Step& step, State& state) {
  state.scratch_path = plan.Text(step, 1);
  long result =
      Syscall(__NR_mount, "tmpfs", "/proc", "tmpfs",
              static_cast<unsigned long>(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV), plan.Text(step, 0));
  if (result < 0) return ErrnoOf(result);
  result = Syscall(__NR_open, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (result < 0) return ErrnoOf(result);
  state.scratch = static_cast<int>(result);
  return 0;
}

int MakeDirectory(const State& state, const char* path, uint64_t mode) {
  const int error = ErrnoOf(Syscall(__NR_mkdirat, state.scratch, path, mode));
  // The mode exactly, whatever the umask was when the runner was started.
  return error != 0 ? error : ErrnoOf(Syscall(__NR_fchmodat, state.scratch, path, mode));
}

// What was written of the plan is not looked at again, and a mapped page counts as memory of the
// run.
void Forget(Blob content) {
  constexpr uintptr_t kPage = 4096;
  const auto begin = (reinterpret_cast<uintptr_t>(content.data) + kPage - 1) / kPage * kPage;
  const auto end = (reinterpret_cast<uintptr_t>(content.data) + content.size) / kPage * kPage;
  if (begin >= end) return;
  Syscall(__NR_madvise, begin, end - begin, 4 /* MADV_DONTNEED */);
}

int WriteFile(const State& state, const char* path, const Blob& whole, uint64_t mode) {
  Blob content = whole;
  const long fd =
      Syscall(__NR_openat, state.scratch, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) return ErrnoOf(fd);
  int error = ErrnoOf(Syscall(__NR_fchmod, fd, mode));
  while (error == 0 && content.size > 0) {
    const long count = Syscall(__NR_write, fd, content.data, content.size);
    if (count < 0) error = ErrnoOf(count);
    if (count > 0) {
      content.data += count;
      content.size -= static_cast<uint32_t>(count);
    }
  }
  Close(fd);
  Forget(whole);
  return error;
}

long CloneTree(int dir, const char* path, int flags) {
  return Syscall(__NR_open_tree, dir, path,
                 static_cast<int>(OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC) | kAtEmptyPath |
                     kAtNoAutomount | flags);
}

// The descriptor of a detached mount that the runner passed in; each is used once.
long TakePassed(uint64_t index, State& state) {
  if (index >= sizeof state.passed_used || state.passed_used[index]) return -EBADF;
  state.passed_used[index] = true;
  return kFirstPassedFd + static_cast<long>(index);
}

int Root(const char* path, const Step& step, State& state) {
  const long mount =
      path[0] == 0 ? TakePassed(step.number[1], state) : CloneTree(AT_FDCWD, path, 0);
  if (mount < 0) return ErrnoOf(mount);
  int error = AddAttributes(mount, step.number[0], kAtRecursive);
  if (error != 0) return error;
  const long target = OpenPath(state.scratch, "root", RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  if (target < 0) return ErrnoOf(target);
  error = Attach(mount, target);
  Close(target);
  state.root = static_cast<int>(mount);
  return error;
}

// Stacks an overlay on the root. Its layers are named relative to the scratch, so that mountinfo
// tells the guest no path of the host.
int OverlayRoot(const char* upper, const char* work, const Step& step, State& state) {
  long result = Syscall(__NR_fchdir, state.scratch);
  if (result < 0) return ErrnoOf(result);
  const long context = Syscall(__NR_fsopen, "overlay", FSOPEN_CLOEXEC);
  if (context < 0) return ErrnoOf(context);
  const char* const options[][2] = {
      {"source", "overlay"}, {"lowerdir", "root"}, {"upperdir", upper}, {"workdir", work}};
  for (const auto& option : options) {
    result = Syscall(__NR_fsconfig, context, FSCONFIG_SET_STRING, option[0], option[1], 0);
    if (result < 0) return ErrnoOf(result);
  }
  result = Syscall(__NR_fsconfig, context, FSCONFIG_SET_FLAG, "userxattr", nullptr, 0);
  if (result < 0) return ErrnoOf(result);
  result = Syscall(__NR_fsconfig, context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0);
  if (result < 0) return ErrnoOf(result);
  const long mount = Syscall(__NR_fsmount, context, FSMOUNT_CLOEXEC, step.number[0]);
  if (mount < 0) return ErrnoOf(mount);
  Close(context);
  const int error = Attach(mount, state.root);
  Close(state.root);
  state.root = static_cast<int>(mount);
  return error;
}

int MountFilesystem(const PlanView& plan, const Step& step, const State& state) {
  const long target = OpenInRoot(state, plan.Text(step, 0));
  if (target < 0) return ErrnoOf(target);
  long result = Syscall(__NR_fchdir, target);
  if (result >= 0) {
    // MOUNT_ATTR_RDONLY, NOSUID, NODEV and NOEXEC have the values of their MS_ namesakes.
    result = Syscall(__NR_mount, plan.Text(step, 1), ".", plan.Text(step, 1), step.number[0],
                     plan.Text(step, 2));
  }
  Close(target);
  return ErrnoOf(result);
}

int Setting(const PlanView& plan, const Step& step, const State& state) {
  struct open_how how = {};
  how.flags = O_WRONLY | O_CLOEXEC;
  how.resolve = kInRoot;
  const long fd = Syscall(__NR_openat2, state.root, plan.Text(step, 0), &how, sizeof how);
  if (fd < 0) return ErrnoOf(fd);
  const char* value = plan.Text(step, 1);
  uint64_t length = 0;
  while (value[length] != 0)
    ++length;
  const long written = Syscall(__NR_write, fd, value, length);
  Close(fd);
  return ErrnoOf(written);
}

// The source of a bind, opened without following a link.
long OpenSource(const char* path, uint64_t from, const State& state) {
  if (from == kFromHost) return OpenPath(AT_FDCWD, path, RESOLVE_NO_SYMLINKS);
  if (from == kFromScratch) {
    return OpenPath(state.scratch, path, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  }
  return OpenInRoot(state, path);
}

// A source that is no longer the file that the planner judged is refused.
int CheckInode(long fd, uint64_t inode) {
  if (inode == 0) return 0;
  struct statx status = {};
  const long result = Syscall(__NR_statx, fd, "", kAtEmptyPath, STATX_INO, &status);
  if (result < 0) return ErrnoOf(result);
  return status.stx_ino == inode ? 0 : ESTALE;
}

// The source of a bind as a detached mount, or a negative errno.
long DetachedSource(const PlanView& plan, const Step& step, int recursive, State& state) {
  if (step.number[1] == kFromFd) return TakePassed(step.number[3], state);
  const long source = OpenSource(plan.Text(step, 1), step.number[1], state);
  if (source < 0) return source;
  const int changed = CheckInode(source, step.number[3]);
  const long mount = changed != 0 ? -changed : CloneTree(static_cast<int>(source), "", recursive);
  Close(source);
  return mount;
}

int Bind(const PlanView& plan, const Step& step, State& state) {
  const long target = OpenInRoot(state, plan.Text(step, 0));
  if (target == -ENOENT && (step.number[2] & kOptional) != 0) return 0;
  if (target < 0) return ErrnoOf(target);
  const int recursive = (step.number[2] & kRecursive) != 0 ? kAtRecursive : 0;
  const long mount = DetachedSource(plan, step, recursive, state);
  if (mount < 0) return ErrnoOf(mount);
  int error = AddAttributes(mount, step.number[0], recursive);
  if (error == 0) error = Attach(mount, target);
  Close(target);
  Close(mount);
  return error;
}

// pivot_root(2), "pivot_root(".", ".")": the old root ends on top of the new one and is detached.
int PivotRoot(State& state) {
  long result = Syscall(__NR_fchdir, state.root);
  if (result >= 0) result = Syscall(__NR_pivot_root, ".", ".");
  if (result >= 0) result = Syscall(__NR_umount2, ".", kMntDetach);
  if (result >= 0) result = Syscall(__NR_chdir, "/");
  if (result < 0) return ErrnoOf(result);
  Close(state.root);
  Close(state.scratch);
  state.root = state.scratch = -1;
  return 0;
}

}  // namespace

int DoMountStep(const PlanView& plan, const Step& step, State& state) {
  const char* first = plan.Text(step, 0);
  const bool needs_scratch = step.kind > StepKind::kScratch;
  const bool needs_root = step.kind > StepKind::kRoot;
  if ((needs_scratch && state.scratch < 0) || (needs_root && state.root < 0)) return EBADF;
  switch (step.kind) {
    case StepKind::kPrivateMounts:
      return PrivateMounts();
    case StepKind::kScratch:
      return Scratch(plan, step, state);
    case StepKind::kMakeDirectory:
      return MakeDirectory(state, first, step.number[0]);
    case StepKind::kWriteFile:
      return WriteFile(state, first, plan.BlobOf(step), step.number[0]);
    case StepKind::kRoot:
      return Root(first, step, state);
    case StepKind::kOverlayRoot:
      return OverlayRoot(first, plan.Text(step, 1), step, state);
    case StepKind::kMountFilesystem:
      return MountFilesystem(plan, step, state);
    case StepKind::kBind:
      return Bind(plan, step, state);
    case StepKind::kSetting:
      return Setting(plan, step, state);
    case StepKind::kPivotRoot:
      return PivotRoot(state);
    default:
      return EINVAL;
  }
}

}  // namespace plimsoll::init
