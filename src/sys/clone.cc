#include "sys/clone.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "sys/file.h"

namespace plimsoll::sys {
namespace {

constexpr std::size_t kChildStackBytes = std::size_t{64} << 10U;

// libc has no clone3 that takes a function: on the new stack a plain return from the system call
// would find nothing to return to, so the child calls `child` right there.
long RawClone3(struct clone_args* args, void (*child)(void*), void* argument) {
  long result;
  register void (*function)(void*) __asm__("r12") = child;
  register void* parameter __asm__("r13") = argument;
  __asm__ volatile(
      "syscall\n"
      "testq %%rax, %%rax\n"
      "jnz 1f\n"
      "xorl %%ebp, %%ebp\n"
      "movq %%r13, %%rdi\n"
      "call *%%r12\n"
      "hlt\n"
      "1:\n"
      : "=a"(result)
      : "a"(SYS_clone3), "D"(args), "S"(sizeof *args), "r"(function), "r"(parameter)
      : "rcx", "r11", "memory");
  return result;
}

}  // namespace

Result<ClonedChild> CloneVfork(std::uint64_t namespaces, int cgroup_fd, void (*child)(void*),
                               void* argument) {
  alignas(16) std::array<std::byte, kChildStackBytes> stack;  // the caller waits below it
  int pidfd = -1;
  struct clone_args args = {};
  constexpr std::uint64_t kAlways = CLONE_VM | CLONE_VFORK | CLONE_PIDFD;
  args.flags = namespaces | kAlways | (cgroup_fd >= 0 ? CLONE_INTO_CGROUP : 0ULL);
  args.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  args.stack = reinterpret_cast<std::uintptr_t>(stack.data());
  args.stack_size = stack.size();
  if (cgroup_fd >= 0) args.cgroup = static_cast<__u64>(cgroup_fd);

  // A handler that ran in the child would run on the caller's memory.
  sigset_t all;
  sigset_t old;
  ::sigfillset(&all);
  (void)::pthread_sigmask(SIG_SETMASK, &all, &old);  // cannot fail with these arguments
  const long pid = RawClone3(&args, child, argument);
  (void)::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (pid < 0) return ErrnoError("clone3", static_cast<int>(-pid));
  return ClonedChild{.pid = static_cast<pid_t>(pid), .pidfd = UniqueFd(pidfd)};
}

}  // namespace plimsoll::sys
