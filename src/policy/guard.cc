#include "policy/guard.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <span>

namespace plimsoll::policy {

namespace {

constexpr std::string_view kSystemV =
    "System V IPC: objects outside the file system, with names that no mount hides";
constexpr std::string_view kOtherProcesses = "other processes' memory and registers";
constexpr std::string_view kView =
    "the view of files: another root, another mount, a file by handle past every directory";
constexpr std::string_view kClocks = "the machine's clocks";
constexpr std::string_view kAdministration = "the host's administration";
constexpr std::string_view kNamespaces =
    "new namespaces: each brings the privileges that its owner has over it";
constexpr std::string_view kLarge = "a large interface into the kernel";
constexpr std::string_view kMemoryNodes = "memory nodes";
constexpr std::string_view kNewer =
    "newer than Linux 5.0 and not needed: who uses it has to work on older kernels too";

struct Group {
  std::uint32_t first;
  std::uint32_t last;
  std::string_view why;
};

// Refused with EPERM, as the kernel answers a caller without the privilege; programs report it and
// carry on, or fail for a reason that is true.
constexpr Group kNever[] = {
    {__NR_shmget, __NR_shmctl, kSystemV},
    {__NR_semget, __NR_msgctl, kSystemV},
    {__NR_semtimedop, __NR_semtimedop, kSystemV},
    {__NR_ptrace, __NR_ptrace, kOtherProcesses},
    {__NR_process_vm_readv, __NR_process_vm_writev, kOtherProcesses},
    {__NR_modify_ldt, __NR_modify_ldt,
     "x86 segments, a source of kernel bugs that only 16-bit programs need"},
    {__NR_pivot_root, __NR_pivot_root, kView},
    {__NR_chroot, __NR_chroot, kView},
    {__NR_name_to_handle_at, __NR_open_by_handle_at, kView},
    // Also when they are only read through these, since the mode lies in memory.
    {__NR_adjtimex, __NR_adjtimex, kClocks},
    {__NR_clock_settime, __NR_clock_settime, kClocks},
    {__NR_clock_adjtime, __NR_clock_adjtime, kClocks},
    // One run of numbers: accounting, time of day, mounts, swap, reboot, host name, ports, modules,
    // quotas, and calls that no kernel has any more.
    {__NR_acct, __NR_security, kAdministration},
    {__NR_finit_module, __NR_finit_module, kAdministration},
    {__NR_kexec_load, __NR_kexec_load, kAdministration},
    {__NR_kexec_file_load, __NR_kexec_file_load, kAdministration},
    {__NR_add_key, __NR_keyctl, "keys are not divided by namespaces as files are"},
    {__NR_unshare, __NR_unshare, kNamespaces},
    {__NR_setns, __NR_setns, kNamespaces},
    {__NR_perf_event_open, __NR_perf_event_open, kLarge},
    {__NR_bpf, __NR_bpf, kLarge},
    {__NR_userfaultfd, __NR_userfaultfd, "it can stop the kernel in the middle of a copy"},
};

// Answered with ENOSYS, as by a kernel without them: callers know that answer and go another way.
constexpr Group kAbsent[] = {
    // .NET takes every answer but ENOSYS for a yes.
    {__NR_mbind, __NR_get_mempolicy, kMemoryNodes},
    {__NR_migrate_pages, __NR_migrate_pages, kMemoryNodes},
    {__NR_move_pages, __NR_move_pages, kMemoryNodes},
    // Probed once; ENOSYS is how pkey_alloc(3) says that there are none.
    {__NR_pkey_mprotect, __NR_pkey_free, "protection keys"},
    // Later kernels gave away the first two (uretprobe is 335) and answer those past any filter.
    {__NR_rseq + 1, __NR_pidfd_send_signal - 1, "no call had this number when the guard was made"},
    // From here on the numbers are those of Linux 5.1 and later. Among them are calls that must
    // never pass (io_uring, the new mount calls, pidfd_getfd), and clone3: its flags lie in memory
    // where no filter sees them, and libc goes back to clone.
    {__NR_pidfd_send_signal, __NR_clone3, kNewer},
    {__NR_pidfd_getfd, __NR_pidfd_getfd, kNewer},
    {__NR_process_madvise, __NR_process_madvise, kNewer},
    {__NR_mount_setattr, __NR_process_mrelease, kNewer},
    // And with it every x32 number (bit 30).
    {kHighestKnownCall, UINT32_MAX, "a number beyond those that the guard's author could know"},
};

// With EPERM, ls -l, cp -p, mv and sed -i fail; with ENOSYS, ls -l complains, sed -i loses the mode
// and Python's copy2 and copytree raise.
constexpr Group kUnsupported[] = {
    {__NR_setxattr, __NR_fremovexattr, "as by a file system without extended attributes"}};

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

// A family outside these reaches the kernel's own sockets (netlink, crypto, packets, machines): the
// guest's network is its loopback, whatever a profile says.
Rule RefuseFamilies() {
  Rule rule{.tests = {}, .action = Refuse(EPERM)};
  for (const int family : {AF_UNIX, AF_INET, AF_INET6}) {
    rule.tests.push_back({.index = 0,
                          .value = static_cast<std::uint64_t>(family),
                          .mask = UINT32_MAX,
                          .negated = true});
  }
  return rule;
}

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
  guard.Set(__NR_socket, {.rules = {RefuseFamilies()}});
  guard.Set(__NR_socketpair, {.rules = {RefuseFamilies()}});
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

std::string_view GuardReason(std::uint32_t number) {
  for (const std::span<const Group> groups :
       {std::span<const Group>(kNever), {kAbsent}, {kUnsupported}}) {
    for (const Group& group : groups) {
      if (group.first <= number && number <= group.last) return group.why;
    }
  }
  switch (number) {
    case __NR_socket:
    case __NR_socketpair:
      return "a socket family that reaches the kernel itself or other machines";
    case __NR_ioctl:
      return "puts characters into a terminal's input, from where the shell outside reads them";
    case __NR_clone:
      return kNamespaces;
    case __NR_fcntl:
      return "leases, with which the owner of a file keeps everybody else from opening it";
    case __NR_prlimit64:
      return "the limits of process 1, without which the sandbox ends";
    case __NR_sched_setparam:
    case __NR_sched_setscheduler:
    case __NR_sched_setattr:
    case __NR_setpriority:
    case __NR_ioprio_set:
      return "the priority of process 1, with which the end of the sandbox would be put off";
    default:
      return {};
  }
}

}  // namespace plimsoll::policy
