// The shipped filter, run by an interpreter: every call's verdict, and that guard and profile are
// both in it. tests/unit/policy/kernel_test.cc asks the kernel.

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "policy/guard.h"
#include "policy/interpret.h"
#include "policy/program.h"
#include "policy/shipped.h"

namespace plimsoll::policy {
namespace {

constexpr std::uint64_t kHigh = std::uint64_t{1} << 32U;
constexpr std::uint32_t kAllowed = SECCOMP_RET_ALLOW;

using Numbers = std::set<std::uint32_t>;

std::uint32_t Answer(std::span<const sock_filter> program, const seccomp_data& data) {
  const auto answer = Interpret(program, data);
  EXPECT_TRUE(answer.has_value()) << data.nr;
  return answer ? answer->action : kAllowed;
}

std::uint32_t Answer(std::uint32_t number, std::array<std::uint64_t, 6> arguments = {}) {
  return Answer(Shipped().program, Call(number, arguments));
}

Program ReadProgram(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Program program(bytes.size() / sizeof(sock_filter));
  std::memcpy(program.data(), bytes.data(), program.size() * sizeof(sock_filter));
  return program;
}

// The listed calls that x86-64 has.
Numbers ListedCalls() {
  Numbers numbers;
  std::ifstream list(PLIMSOLL_SOURCE_DIR "/tests/golden/default_allow.txt");
  for (std::string name; std::getline(list, name);) {
    const int number = seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, name.c_str());
    EXPECT_NE(number, __NR_SCMP_ERROR) << name;
    if (number >= 0) numbers.insert(static_cast<std::uint32_t>(number));
  }
  return numbers;
}

const Numbers kConditional = {SYS_socket, SYS_socketpair, SYS_clone, SYS_personality,
                              SYS_mknod,  SYS_mknodat,    SYS_ioctl, SYS_setpriority,
                              SYS_fcntl,  SYS_prlimit64};

TEST(DefaultProgram, AllowsEveryListedCallWithoutLookingAtItsArguments) {
  for (const std::uint32_t number : ListedCalls()) {
    if (kConditional.contains(number)) continue;
    const auto answer = Interpret(Shipped().program, Call(number));
    ASSERT_TRUE(answer.has_value()) << number;
    EXPECT_EQ(answer->action, kAllowed) << number;
    EXPECT_FALSE(answer->reads_arguments) << number << ": the kernel could not skip the filter";
  }
}

TEST(DefaultProgram, RefusesEveryOtherNumber) {
  const Numbers listed = ListedCalls();
  for (std::uint32_t number = 0; number <= 2000; ++number) {
    if (listed.contains(number) || kConditional.contains(number)) continue;
    EXPECT_EQ(Answer(number) & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO) << number;
  }
}

TEST(DefaultProgram, AnswersEnosysAboveTheHighestKnownNumber) {
  for (std::uint32_t number = kHighestKnownCall + 1; number <= 2000; ++number) {
    EXPECT_EQ(Answer(number), Refuse(ENOSYS)) << number;
  }
  for (const std::uint32_t number : {0x7fffffffU, 0x80000000U, 0xbfffffffU, UINT32_MAX}) {
    EXPECT_EQ(Answer(number), Refuse(ENOSYS)) << number;
  }
}

TEST(DefaultProgram, AnswersEnosysInTheGapThatKernelsFillLater) {
  for (std::uint32_t number = 335; number <= 423; ++number) {
    EXPECT_EQ(Answer(number), Refuse(ENOSYS)) << number;
  }
}

TEST(DefaultProgram, RefusesEveryX32Number) {
  for (std::uint32_t number = 0; number <= 2000; ++number) {
    EXPECT_EQ(Answer(number | 0x40000000U), Refuse(ENOSYS)) << number;
  }
}

TEST(DefaultProgram, RefusesEveryCallOfAForeignArchitecture) {
  for (const std::uint32_t arch :
       {std::uint32_t{AUDIT_ARCH_I386}, std::uint32_t{AUDIT_ARCH_AARCH64},
        std::uint32_t{AUDIT_ARCH_ARM}, std::uint32_t{AUDIT_ARCH_X86_64} ^ 0x80000000U, 0U}) {
    for (std::uint32_t number = 0; number <= 2000; ++number) {
      seccomp_data data = Call(number);
      data.arch = arch;
      EXPECT_EQ(Answer(Shipped().program, data), Refuse(EPERM)) << arch << " " << number;
    }
  }
}

// The calls that are denied on purpose, by number. None may be let through by any profile.
const Numbers kNeverAllowed = {SYS_ptrace,
                               SYS_process_vm_readv,
                               SYS_process_vm_writev,
                               SYS_pidfd_getfd,
                               SYS_io_uring_setup,
                               SYS_io_uring_enter,
                               SYS_io_uring_register,
                               SYS_userfaultfd,
                               SYS_perf_event_open,
                               SYS_bpf,
                               SYS_keyctl,
                               SYS_add_key,
                               SYS_request_key,
                               SYS_unshare,
                               SYS_setns,
                               SYS_clone3,
                               SYS_mount,
                               SYS_umount2,
                               SYS_open_tree,
                               SYS_move_mount,
                               SYS_fsopen,
                               SYS_fsconfig,
                               SYS_fsmount,
                               SYS_fspick,
                               SYS_mount_setattr,
                               467 /* open_tree_attr */,
                               SYS_pivot_root,
                               SYS_chroot,
                               SYS_name_to_handle_at,
                               SYS_open_by_handle_at,
                               SYS_modify_ldt,
                               SYS_kexec_load,
                               SYS_kexec_file_load,
                               SYS_init_module,
                               SYS_finit_module,
                               SYS_delete_module,
                               SYS_create_module,
                               SYS_query_module,
                               SYS_get_kernel_syms,
                               SYS_reboot,
                               SYS_swapon,
                               SYS_swapoff,
                               SYS_settimeofday,
                               SYS_clock_settime,
                               SYS_clock_adjtime,
                               SYS_adjtimex,
                               SYS_shmget,
                               SYS_shmat,
                               SYS_shmctl,
                               SYS_shmdt,
                               SYS_semget,
                               SYS_semop,
                               SYS_semctl,
                               SYS_semtimedop,
                               SYS_msgget,
                               SYS_msgsnd,
                               SYS_msgrcv,
                               SYS_msgctl,
                               SYS_acct,
                               SYS_quotactl,
                               SYS_quotactl_fd,
                               SYS_iopl,
                               SYS_ioperm,
                               SYS_sethostname,
                               SYS_setdomainname,
                               SYS_nfsservctl};

TEST(Guard, RefusesTheNeverAllowedCallsUnderAProfileThatAllowsEverything) {
  const auto program = EmitProgram(Stack(Guard(), Verdicts(Decision{})));
  ASSERT_TRUE(program.has_value());
  for (const std::uint32_t number : kNeverAllowed) {
    const std::uint32_t action = Answer(*program, Call(number));
    EXPECT_TRUE(action == Refuse(EPERM) || action == Refuse(ENOSYS)) << number;
  }
  for (std::uint32_t flag = 1U << 17U; flag != 0; flag <<= 1U) {
    const bool is_namespace = (0x7e020000U & flag) != 0;
    EXPECT_EQ(Answer(*program, Call(SYS_clone, {flag})), is_namespace ? Refuse(EPERM) : kAllowed)
        << std::hex << flag;
  }
  EXPECT_EQ(Answer(*program, Call(SYS_ioctl, {0, TIOCSTI})), Refuse(EPERM));
  for (std::uint32_t number = 0; number <= 2000; ++number) {
    seccomp_data data = Call(number);
    data.arch = AUDIT_ARCH_I386;
    EXPECT_EQ(Answer(*program, data), Refuse(EPERM));
    EXPECT_EQ(Answer(*program, Call(number | 0x40000000U)), Refuse(ENOSYS));
  }
}

TEST(Guard, HasOnlyRefusalsInItsRules) {
  const Verdicts guard = Guard();
  for (const auto& [first, decision] : guard.Ranges()) {
    for (const Rule& rule : decision.rules) {
      EXPECT_EQ(rule.action & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO) << first;
      EXPECT_NE(rule.action & SECCOMP_RET_DATA, 0) << first << ": errno 0 is success";
    }
  }
}

TEST(Guard, TakesNothingAwayThatTheShippedProfileAllows) {
  for (const std::uint32_t number : ListedCalls()) {
    EXPECT_EQ(Guard().At(number).otherwise, kAllowed) << number;
  }
}

TEST(DefaultProgram, HarmlessCallsThatLibcProbesNeverAnswerEperm) {
  for (const std::uint32_t allowed :
       Numbers{SYS_openat2, SYS_faccessat2, SYS_statx, SYS_rseq, SYS_membarrier, SYS_getrandom,
               SYS_close_range, SYS_epoll_pwait2, SYS_futex_waitv, SYS_copy_file_range}) {
    EXPECT_EQ(Answer(allowed), kAllowed) << allowed;
  }
  for (const std::uint32_t absent :
       Numbers{SYS_clone3, SYS_pidfd_open, SYS_pidfd_send_signal, SYS_process_madvise,
               SYS_process_mrelease, SYS_memfd_secret, SYS_landlock_create_ruleset,
               SYS_landlock_add_rule, SYS_landlock_restrict_self, SYS_set_mempolicy_home_node,
               SYS_get_mempolicy, SYS_mbind, SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect}) {
    EXPECT_EQ(Answer(absent), Refuse(ENOSYS)) << absent;
  }
}

TEST(DefaultProgram, ExtendedAttributesAreUnsupported) {
  for (std::uint32_t number = SYS_setxattr; number <= SYS_fremovexattr; ++number) {
    EXPECT_EQ(Answer(number), Refuse(ENOTSUP)) << number;
  }
}

TEST(DefaultProgram, RefusesTerminalInputWhateverTheHighBitsOfTheCommand) {
  for (const std::uint64_t command : {std::uint64_t{TIOCSTI}, std::uint64_t{TIOCLINUX}}) {
    for (const std::uint64_t high : {std::uint64_t{0}, kHigh, UINT64_MAX & ~(kHigh - 1)}) {
      EXPECT_EQ(Answer(SYS_ioctl, {0, high | command}), Refuse(EPERM)) << std::hex << high;
    }
  }
}

TEST(DefaultProgram, AllowsEveryOtherTerminalCommand) {
  for (std::uint64_t command = 0x5400; command < 0x5480; ++command) {
    if (command == TIOCSTI || command == TIOCLINUX) continue;
    EXPECT_EQ(Answer(SYS_ioctl, {TIOCSTI, command}), kAllowed) << std::hex << command;
  }
  EXPECT_EQ(Answer(SYS_ioctl, {0, std::uint64_t{TIOCSTI} << 32U}), kAllowed);
}

TEST(DefaultProgram, AllowsUnixSocketsOnly) {
  for (const std::uint32_t number : Numbers{SYS_socket, SYS_socketpair}) {
    EXPECT_EQ(Answer(number, {AF_UNIX, SOCK_STREAM}), kAllowed);
    EXPECT_EQ(Answer(number, {kHigh | AF_UNIX, SOCK_STREAM}), Refuse(EPERM));
    for (std::uint64_t family = 0; family < 64; ++family) {
      if (family == AF_UNIX) continue;
      EXPECT_EQ(Answer(number, {family, SOCK_STREAM}), Refuse(EPERM)) << family;
    }
  }
}

TEST(DefaultProgram, AllowsProcessesAndThreadsButNoNamespace) {
  const std::uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                               CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
                               CLONE_CHILD_CLEARTID;
  EXPECT_EQ(Answer(SYS_clone, {SIGCHLD}), kAllowed);
  EXPECT_EQ(Answer(SYS_clone, {thread}), kAllowed);
  for (const std::uint64_t flag :
       {std::uint64_t{CLONE_NEWNS}, std::uint64_t{CLONE_NEWCGROUP}, std::uint64_t{CLONE_NEWUTS},
        std::uint64_t{CLONE_NEWIPC}, std::uint64_t{CLONE_NEWUSER}, std::uint64_t{CLONE_NEWPID},
        std::uint64_t{CLONE_NEWNET}}) {
    EXPECT_EQ(Answer(SYS_clone, {flag}), Refuse(EPERM)) << std::hex << flag;
    EXPECT_EQ(Answer(SYS_clone, {kHigh | thread | flag}), Refuse(EPERM)) << std::hex << flag;
  }
}

TEST(DefaultProgram, AllowsToAskForThePersonalityAndToKeepIt) {
  EXPECT_EQ(Answer(SYS_personality, {0}), kAllowed);
  EXPECT_EQ(Answer(SYS_personality, {0xffffffff}), kAllowed);
  for (const std::uint64_t other :
       {std::uint64_t{8}, std::uint64_t{0x0040000}, kHigh, kHigh | 0xffffffff, UINT64_MAX}) {
    EXPECT_EQ(Answer(SYS_personality, {other}), Refuse(EPERM)) << std::hex << other;
  }
}

TEST(DefaultProgram, MakesNamedPipesAndNoDevices) {
  EXPECT_EQ(Answer(SYS_mknod, {0, S_IFIFO | 0666}), kAllowed);
  EXPECT_EQ(Answer(SYS_mknodat, {0, 0, S_IFIFO | 0666}), kAllowed);
  for (const std::uint64_t type : Numbers{S_IFCHR, S_IFBLK, S_IFREG, S_IFSOCK, S_IFDIR, 0}) {
    EXPECT_EQ(Answer(SYS_mknod, {0, type | 0666, S_IFIFO}), Refuse(EPERM)) << type;
    EXPECT_EQ(Answer(SYS_mknodat, {0, S_IFIFO, type | 0666}), Refuse(EPERM)) << type;
  }
}

// Argument values at which some rule changes its answer, and their neighbours.
std::set<std::uint64_t> TellingValues() {
  std::set<std::uint64_t> values;
  for (const std::uint64_t low :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{0xffffffff},
        std::uint64_t{TIOCSTI}, std::uint64_t{TIOCLINUX}, std::uint64_t{S_IFIFO},
        std::uint64_t{S_IFCHR}, std::uint64_t{0x7e020000}, std::uint64_t{CLONE_NEWUSER}}) {
    values.insert({low, low + kHigh, low << 32U, low | ~(kHigh - 1), low + 1});
  }
  return values;
}

TEST(DefaultProgram, IsTheGuardAndThenTheProfileForEveryNumber) {
  const Program guard = ReadProgram(PLIMSOLL_BUILD_DIR "/generated/guard.bpf");
  const Program profile = ReadProgram(PLIMSOLL_BUILD_DIR "/generated/profile.bpf");
  for (std::uint32_t number = 0; number <= 2000; ++number) {
    for (const std::uint64_t value : TellingValues()) {
      const seccomp_data data = Call(number, {value, value, value, 0, 0, 0});
      const std::uint32_t first = Answer(guard, data);
      ASSERT_EQ(Answer(Shipped().program, data), first != kAllowed ? first : Answer(profile, data))
          << number << " " << std::hex << value;
    }
  }
}

// libseccomp's program for the same rules, added one by one from the lists in this file.
Program LibseccompProgram(std::uint32_t optimize) {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, optimize);
  for (const std::uint32_t number : ListedCalls()) {
    EXPECT_EQ(seccomp_rule_add(filter, SCMP_ACT_ALLOW, static_cast<int>(number), 0), 0) << number;
  }
  const auto add = [&](int number, const scmp_arg_cmp& test) {
    EXPECT_EQ(seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, 1, &test), 0) << number;
  };
  add(SCMP_SYS(socket), {0, SCMP_CMP_EQ, AF_UNIX, 0});
  add(SCMP_SYS(socketpair), {0, SCMP_CMP_EQ, AF_UNIX, 0});
  add(SCMP_SYS(clone), {0, SCMP_CMP_MASKED_EQ, 0x7e020000, 0});
  add(SCMP_SYS(personality), {0, SCMP_CMP_EQ, 0, 0});
  add(SCMP_SYS(personality), {0, SCMP_CMP_EQ, 0xffffffff, 0});
  add(SCMP_SYS(mknodat), {2, SCMP_CMP_MASKED_EQ, S_IFMT, S_IFIFO});
  add(SCMP_SYS(mknod), {1, SCMP_CMP_MASKED_EQ, S_IFMT, S_IFIFO});
  EXPECT_EQ(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0), 0);
  const std::string path = testing::TempDir() + "libseccomp_program";
  FILE* file = std::fopen(path.c_str(), "w");
  EXPECT_EQ(seccomp_export_bpf(filter, fileno(file)), 0);
  std::fclose(file);
  seccomp_release(filter);
  const Program program = ReadProgram(path);
  std::remove(path.c_str());
  return program;
}

TEST(ProfileProgram, AnswersAsLibseccompsForEveryNumber) {
  const Program ours = ReadProgram(PLIMSOLL_BUILD_DIR "/generated/profile.bpf");
  for (const std::uint32_t optimize : {1U, 2U}) {
    const Program theirs = LibseccompProgram(optimize);
    for (std::uint32_t number = 0; number <= 2000; ++number) {
      for (const std::uint64_t value : TellingValues()) {
        const seccomp_data data = Call(number, {value, value, value, 0, 0, 0});
        ASSERT_EQ(Answer(ours, data), Answer(theirs, data)) << number << " " << std::hex << value;
      }
    }
    EXPECT_LT(ours.size() * 2, theirs.size()) << "half of it";
  }
}

TEST(DefaultProgram, IsShortAndShallow) {
  std::size_t steps = 0;
  for (std::uint32_t number = 0; number < 470; ++number) {
    steps += Interpret(Shipped().program, Call(number))->steps;
  }
  EXPECT_LE(Shipped().program.size(), 130);
  EXPECT_LE(steps, 470 * 11) << "what the kernel walks when it loads the filter";
}

}  // namespace
}  // namespace plimsoll::policy
