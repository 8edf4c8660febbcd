// System calls without libc: the number and up to six arguments in, the value or -errno out.
#pragma once

#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>

namespace plimsoll::init {

// Any pointer or integer as a system call argument.
template <typename T>
inline long Arg(T* pointer) {
  return static_cast<long>(reinterpret_cast<uintptr_t>(pointer));
}
template <typename T>
inline long Arg(T value) {
  return static_cast<long>(value);
}
inline long Arg(decltype(nullptr)) {
  return 0;
}

inline long RawSyscall(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// Missing arguments are 0, so that calls that demand zeros (prctl) get them.
template <typename A = int, typename B = int, typename C = int, typename D = int, typename E = int,
          typename F = int>
inline long Syscall(long number, A a = {}, B b = {}, C c = {}, D d = {}, E e = {}, F f = {}) {
  return RawSyscall(number, Arg(a), Arg(b), Arg(c), Arg(d), Arg(e), Arg(f));
}

[[noreturn]] inline void Exit(int status) {
  for (;;)
    Syscall(__NR_exit_group, status);
}

// clone(2) with CLONE_VM | CLONE_VFORK and `more_flags`: runs `function(argument)` in a new process
// on the stack that ends at `stack_top` (16-byte aligned) while the caller waits for its execve or
// exit. `function` does not return. The process id, or -errno.
extern "C" long CloneVfork(void (*function)(void*), void* argument, void* stack_top,
                           unsigned long more_flags);

}  // namespace plimsoll::init
