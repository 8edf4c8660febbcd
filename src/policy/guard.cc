#include "policy/guard.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <utility>
#include <vector>

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

// A call that is refused with EPERM when one of `rules` holds.
struct Condition {
  std::uint32_t call;
  std::vector<Rule> rules;
  std::string_view why;
};

// The kernel looks at the low half of these arguments only.
Rule RefuseNumber(unsigned index, std::uint64_t number) {
  return {.tests = {{.index = index, .value = number, .mask = UINT32_MAX}},
          .action = Refuse(EPERM)};
}

// All but the local and the internet's.
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

// Any flag of a new namespace, in the first argument.
Rule RefuseNamespaces() {
  std::uint64_t flags = 0;
  for (const NamespaceFlag& flag : kNamespaceFlags)
    flags |= flag.value;
  return {.tests = {{.index = 0, .mask = flags, .negated = true}}, .action = Refuse(EPERM)};
}

std::vector<Condition> Conditions() {
  constexpr std::string_view kFamilies =
      "a socket family that reaches the kernel itself or other machines";
  // Whoever has its uid may set the priority of any process, even of one that it cannot see, signal
  // or trace. Process 1 with the lowest priority among a guest's busy ones takes long to die, and
  // so does the sandbox: 12 s instead of 4, measured with 480 of them.
  constexpr std::string_view kPriority =
      "the priority of process 1, with which the end of the sandbox would be put off";
  // Of <linux/ioprio.h>, which newer kernels have written so that no C++ compiler reads it.
  constexpr std::uint64_t kIoprioWhoUser = 3;
  return {
      {__NR_socket, {RefuseFamilies()}, kFamilies},
      {__NR_socketpair, {RefuseFamilies()}, kFamilies},
      {__NR_ioctl,
       {RefuseNumber(1, TIOCSTI), RefuseNumber(1, TIOCLINUX)},
       "puts characters into a terminal's input, from where the shell outside reads them"},
      {__NR_clone, {RefuseNamespaces()}, kNamespaces},
      // The owner of a file, whom the guest is for the kernel, keeps everybody else from opening it
      // for 45 s at a time: the other runs of the same image.
      {__NR_fcntl,
       {RefuseNumber(1, F_SETLEASE)},
       "leases, with which the owner of a file keeps everybody else from opening it"},
      // Its uid is enough here too: with no processor time left process 1 ends, and the run with
      // it, as if from outside.
      {__NR_prlimit64,
       {RefuseNumber(0, 1)},
       "the limits of process 1, without which the sandbox ends"},
      {__NR_sched_setparam, {RefuseNumber(0, 1)}, kPriority},
      {__NR_sched_setscheduler, {RefuseNumber(0, 1)}, kPriority},
      {__NR_sched_setattr, {RefuseNumber(0, 1)}, kPriority},
      // Whose priority: process 1, or every process of a user.
      {__NR_setpriority, {RefuseNumber(1, 1), RefuseNumber(0, PRIO_USER)}, kPriority},
      {__NR_ioprio_set, {RefuseNumber(1, 1), RefuseNumber(0, kIoprioWhoUser)}, kPriority},
  };
}

}  // namespace

Verdicts Guard() {
  Verdicts guard(Decision{.otherwise = SECCOMP_RET_ALLOW});
  for (const Group& group : kNever)
    guard.Set(group.first, group.last, {.otherwise = Refuse(EPERM)});
  for (const Group& group : kAbsent)
    guard.Set(group.first, group.last, {.otherwise = Refuse(ENOSYS)});
  for (const Group& group : kUnsupported)
    guard.Set(group.first, group.last, {.otherwise = Refuse(ENOTSUP)});
  for (Condition& condition : Conditions())
    guard.Set(condition.call, {.rules = std::move(condition.rules)});
  return guard;
}

std::string_view GuardReason(std::uint32_t number) {
  for (const std::span<const Group> groups :
       {std::span<const Group>(kNever), {kAbsent}, {kUnsupported}}) {
    for (const Group& group : groups) {
      if (group.first <= number && number <= group.last) return group.why;
    }
  }
  for (const Condition& condition : Conditions()) {
    if (condition.call == number) return condition.why;
  }
  return {};
}

}  // namespace plimsoll::policy
