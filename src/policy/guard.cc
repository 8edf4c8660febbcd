#include "policy/guard.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <cerrno>

namespace plimsoll::policy {

namespace {

struct Group {
  std::uint32_t first;
  std::uint32_t last;
};

// Refused with EPERM, as the kernel answers a caller without the privilege; programs report it and
// carry on, or fail for a reason that is true.
constexpr Group kNever[] = {
    // System V IPC: objects outside the file system, with names that no mount hides.
    {__NR_shmget, __NR_shmctl},
    {__NR_semget, __NR_msgctl},
    {__NR_semtimedop, __NR_semtimedop},
    // Other processes' memory and registers.
    {__NR_ptrace, __NR_ptrace},
    {__NR_process_vm_readv, __NR_process_vm_writev},
    // x86 segments: a source of kernel bugs that only 16-bit programs need.
    {__NR_modify_ldt, __NR_modify_ldt},
    // The view of files: another root, another mount, a file by handle past every directory.
    {__NR_pivot_root, __NR_pivot_root},
    {__NR_chroot, __NR_chroot},
    {__NR_name_to_handle_at, __NR_open_by_handle_at},
    // The clocks; also when they are only read through these, since the mode lies in memory.
    {__NR_adjtimex, __NR_adjtimex},
    {__NR_clock_settime, __NR_clock_settime},
    {__NR_clock_adjtime, __NR_clock_adjtime},
    // The host's administration, one run of numbers: accounting, time of day, mounts, swap, reboot,
    // host name, ports, modules, quotas, and calls that no kernel has any more.
    {__NR_acct, __NR_security},
    {__NR_finit_module, __NR_finit_module},
    {__NR_kexec_load, __NR_kexec_load},
    {__NR_kexec_file_load, __NR_kexec_file_load},
    // Keys are not divided by namespaces as files are.
    {__NR_add_key, __NR_keyctl},
    // New namespaces: each brings the privileges that their owner has over them.
    {__NR_unshare, __NR_unshare},
    {__NR_setns, __NR_setns},
    // Large interfaces into the kernel, and a way to stop it in the middle of a copy.
    {__NR_perf_event_open, __NR_perf_event_open},
    {__NR_bpf, __NR_bpf},
    {__NR_userfaultfd, __NR_userfaultfd},
};

// Answered with ENOSYS, as by a kernel without them: callers know that answer and go another way.
constexpr Group kAbsent[] = {
    // Memory nodes. .NET takes every answer but ENOSYS for a yes.
    {__NR_mbind, __NR_get_mempolicy},
    {__NR_migrate_pages, __NR_migrate_pages},
    {__NR_move_pages, __NR_move_pages},
    // Protection keys: probed once; ENOSYS is how pkey_alloc(3) says that there are none.
    {__NR_pkey_mprotect, __NR_pkey_free},
    // No call has these numbers in the headers the profile was made with. Later kernels gave away
    // the first two (uretprobe is 335) and answer those past any filter.
    {__NR_rseq + 1, __NR_pidfd_send_signal - 1},
    // From here on the numbers are those of Linux 5.1 and later, and of these all are absent that
    // the profile does not need: a program that uses one has to work on older kernels too. Among
    // them are calls that must never pass (io_uring, the new mount calls, pidfd_getfd), and clone3:
    // its flags lie in memory where no filter sees them, and libc goes back to clone.
    {__NR_pidfd_send_signal, __NR_clone3},
    {__NR_pidfd_getfd, __NR_pidfd_getfd},
    {__NR_process_madvise, __NR_process_madvise},
    {__NR_mount_setattr, __NR_process_mrelease},
    // What the profile's author could not know, and with it every x32 number (bit 30).
    {kHighestKnownCall, UINT32_MAX},
};

// Answered with ENOTSUP, as by a file system without extended attributes. With EPERM, ls -l, cp -p,
// mv and sed -i fail; with ENOSYS, ls -l complains, sed -i loses the mode and Python's copy2 and
// copytree raise.
constexpr Group kUnsupported[] = {{__NR_setxattr, __NR_fremovexattr}};

// The kernel looks at the low half of an ioctl command only.
Rule RefuseCommand(std::uint32_t command) {
  return {.tests = {{.index = 1, .value = command, .mask = UINT32_MAX}}, .action = Refuse(EPERM)};
}

// Whoever has its uid may set the priority of any process, even of one that it cannot see, signal
// or trace. Process 1 with the lowest priority among a guest's busy ones takes long to die, and so
// does the sandbox: 12 s instead of 4, measured with 480 of them.
constexpr std::uint32_t kScheduling[] = {__NR_sched_setparam, __NR_sched_setscheduler,
                                         __NR_sched_setattr};

// Of <linux/ioprio.h>, which newer kernels have written so that no C++ compiler reads it.
constexpr std::uint64_t kIoprioWhoUser = 3;

Rule RefuseNumber(unsigned index, std::uint64_t number) {
  return {.tests = {{.index = index, .value = number, .mask = UINT32_MAX}},
          .action = Refuse(EPERM)};
}

// Of clone's first argument, too. CLONE_NEWTIME is not among the flags: its bit belongs to the exit
// signal here, and only unshare and clone3 take it.
constexpr std::uint64_t kNamespaceFlags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                          CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                          CLONE_NEWNET;

}  // namespace

Verdicts Guard() {
  Verdicts guard(Decision{.otherwise = SECCOMP_RET_ALLOW});
  for (const Group& group : kNever)
    guard.Set(group.first, group.last, {.otherwise = Refuse(EPERM)});
  for (const Group& group : kAbsent) {
    guard.Set(group.first, group.last, {.otherwise = Refuse(ENOSYS)});
  }
  for (const Group& group : kUnsupported) {
    guard.Set(group.first, group.last, {.otherwise = Refuse(ENOTSUP)});
  }
  // Both put characters into a terminal's input, from where the shell outside would read them.
  guard.Set(__NR_ioctl, {.rules = {RefuseCommand(TIOCSTI), RefuseCommand(TIOCLINUX)}});
  for (const std::uint32_t number : kScheduling) {
    guard.Set(number, {.rules = {RefuseNumber(0, 1)}});
  }
  // Its uid is enough here too: no processor time left for process 1 ends it, and the run with it,
  // as if from outside.
  guard.Set(__NR_prlimit64, {.rules = {RefuseNumber(0, 1)}});
  // The owner of a file, whom the guest is for the kernel, keeps everybody else from opening it for
  // 45 s at a time with a lease: the other runs of the same image.
  guard.Set(__NR_fcntl, {.rules = {RefuseNumber(1, F_SETLEASE)}});
  // Whose priority: process 1, or every process of a user.
  guard.Set(__NR_setpriority, {.rules = {RefuseNumber(1, 1), RefuseNumber(0, PRIO_USER)}});
  guard.Set(__NR_ioprio_set, {.rules = {RefuseNumber(1, 1), RefuseNumber(0, kIoprioWhoUser)}});
  guard.Set(__NR_clone,
            {.rules = {{.tests = {{.index = 0, .mask = kNamespaceFlags, .negated = true}},
                        .action = Refuse(EPERM)}}});
  return guard;
}

}  // namespace plimsoll::policy
