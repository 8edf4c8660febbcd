// Where the kernel enters the program, what the compiler expects to find, and the clone that needs
// its own stack. Everything else is ordinary code.

#include <linux/sched.h>
#include <stddef.h>

#include "init/pid1.h"
#include "init/syscall.h"

// The stack is aligned as the ABI asks; arguments and environment are not looked at.
__asm__(
    ".pushsection .text._start,\"ax\"\n"
    ".global _start\n"
    ".type _start,@function\n"
    "_start:\n"
    "  xorl %ebp, %ebp\n"
    "  andq $-16, %rsp\n"
    "  call plimsoll_init_main\n"
    "  hlt\n"
    ".popsection\n");

// rdi: function, rsi: its argument, rdx: top of the child's stack, rcx: more flags.
__asm__(
    ".pushsection .text.CloneVfork,\"ax\"\n"
    ".global CloneVfork\n"
    ".hidden CloneVfork\n"
    ".type CloneVfork,@function\n"
    "CloneVfork:\n"
    "  movq %rdi, %r8\n"
    "  movq %rsi, %r9\n"
    "  movq %rdx, %rsi\n"
    "  movq %rcx, %rdi\n"
    "  orq $0x4111, %rdi\n"  // CLONE_VFORK | CLONE_VM | SIGCHLD
    "  xorl %edx, %edx\n"
    "  xorl %r10d, %r10d\n"
    "  movl $56, %eax\n"  // __NR_clone
    "  syscall\n"
    "  testq %rax, %rax\n"
    "  jnz 1f\n"
    "  xorl %ebp, %ebp\n"
    "  movq %r9, %rdi\n"
    "  call *%r8\n"
    "  hlt\n"
    "1: ret\n"
    ".popsection\n");
static_assert((CLONE_VFORK | CLONE_VM | 17) == 0x4111, "the flags in CloneVfork");
static_assert(__NR_clone == 56, "the number in CloneVfork");

extern "C" {

// GCC calls these for large copies whatever the flags say.
void* memcpy(void* to, const void* from, size_t size) {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  for (size_t i = 0; i < size; ++i)
    out[i] = in[i];
  return to;
}

void* memset(void* to, int value, size_t size) {
  auto* out = static_cast<unsigned char*>(to);
  for (size_t i = 0; i < size; ++i)
    out[i] = static_cast<unsigned char>(value);
  return to;
}

[[noreturn]] void plimsoll_init_main() {
  plimsoll::init::RunPlan();
}

}  // extern "C"
