// The shipped filter under the kernel: a child loads it and makes the calls. No sandbox around it,
// so a call that is refused here is refused by the filter alone.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "policy/shipped.h"

namespace plimsoll::policy {
namespace {

struct Probe {
  const char* name;
  long number;
  std::array<unsigned long, 5> args = {};
};

// errno of the call; 0 when it succeeds.
int ErrnoOf(const Probe& probe) {
  const auto& args = probe.args;
  const long result = ::syscall(probe.number, args[0], args[1], args[2], args[3], args[4]);
  if (result == -1) return errno;
  if (result == 0 && (probe.number == SYS_clone || probe.number == SYS_clone3)) ::_exit(0);
  return 0;
}

bool LoadFilter() {
  const auto program = Shipped().program;
  const sock_fprog filter = {static_cast<unsigned short>(program.size()),
                             const_cast<sock_filter*>(program.data())};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

enum class Filter { kLoaded, kNone };

// Runs `work` in a child, whose exit status is what it returns; 255 when the filter does not load.
// A child that is killed by a signal has 128 and the signal.
int InChild(Filter filter, const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (filter == Filter::kLoaded && !LoadFilter()) ::_exit(255);
    ::_exit(work());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int UnderFilter(const Probe& probe) {
  return InChild(Filter::kLoaded, [&] { return ErrnoOf(probe); });
}
int WithoutFilter(const Probe& probe) {
  return InChild(Filter::kNone, [&] { return ErrnoOf(probe); });
}

// Arguments that fail in another way, or do nothing, when the call is let through.
const Probe kNever[] = {
    {"ptrace", SYS_ptrace, {~0UL}},
    {"process_vm_readv", SYS_process_vm_readv, {0, 0, 1}},
    {"process_vm_writev", SYS_process_vm_writev, {0, 0, 1}},
    {"userfaultfd", SYS_userfaultfd, {~0UL}},
    {"perf_event_open", SYS_perf_event_open},
    {"bpf", SYS_bpf, {~0UL}},
    {"keyctl", SYS_keyctl, {~0UL}},
    {"add_key", SYS_add_key},
    {"request_key", SYS_request_key},
    {"unshare nothing", SYS_unshare, {0}},
    {"unshare CLONE_NEWUSER", SYS_unshare, {CLONE_NEWUSER}},
    {"setns", SYS_setns, {~0UL}},
    {"mount", SYS_mount},
    {"umount2", SYS_umount2},
    {"pivot_root", SYS_pivot_root},
    {"chroot", SYS_chroot},
    {"name_to_handle_at", SYS_name_to_handle_at},
    {"open_by_handle_at", SYS_open_by_handle_at, {~0UL}},
    {"modify_ldt", SYS_modify_ldt, {~0UL}},
    {"kexec_load", SYS_kexec_load, {0, ~0UL}},
    {"kexec_file_load", SYS_kexec_file_load, {~0UL, ~0UL, 0, 0, ~0UL}},
    {"init_module", SYS_init_module},
    {"finit_module", SYS_finit_module, {~0UL}},
    {"delete_module", SYS_delete_module},
    {"reboot", SYS_reboot},
    {"swapon", SYS_swapon},
    {"swapoff", SYS_swapoff},
    {"settimeofday", SYS_settimeofday, {1}},
    {"clock_settime", SYS_clock_settime, {~0UL}},
    {"clock_adjtime", SYS_clock_adjtime},
    {"adjtimex", SYS_adjtimex},
    {"shmget", SYS_shmget, {0, ~0UL}},
    {"shmat", SYS_shmat, {~0UL}},
    {"shmctl", SYS_shmctl, {~0UL}},
    {"shmdt", SYS_shmdt, {1}},
    {"semget", SYS_semget, {0, ~0UL}},
    {"semop", SYS_semop, {~0UL}},
    {"semctl", SYS_semctl, {~0UL}},
    {"semtimedop", SYS_semtimedop, {~0UL}},
    {"msgget", SYS_msgget, {1}},
    {"msgsnd", SYS_msgsnd, {~0UL}},
    {"msgrcv", SYS_msgrcv, {~0UL}},
    {"msgctl", SYS_msgctl, {~0UL}},
};

TEST(Kernel, TakesTheFilter) {
  EXPECT_EQ(InChild(Filter::kLoaded, [] { return 0; }), 0);
}

TEST(Kernel, RefusesEveryCallThatIsDeniedOnPurpose) {
  for (const Probe& probe : kNever)
    EXPECT_EQ(UnderFilter(probe), EPERM) << probe.name;
}

TEST(Kernel, RefusesTheNewerOnesAsAbsent) {
  for (const Probe& probe :
       {Probe{"io_uring_setup", SYS_io_uring_setup, {1}},
        Probe{"io_uring_enter", SYS_io_uring_enter},
        Probe{"io_uring_register", SYS_io_uring_register}, Probe{"open_tree", SYS_open_tree},
        Probe{"move_mount", SYS_move_mount}, Probe{"fsopen", SYS_fsopen},
        Probe{"fsconfig", SYS_fsconfig}, Probe{"fsmount", SYS_fsmount}, Probe{"fspick", SYS_fspick},
        Probe{"mount_setattr", SYS_mount_setattr}, Probe{"pidfd_getfd", SYS_pidfd_getfd},
        Probe{"quotactl_fd", SYS_quotactl_fd}}) {
    EXPECT_EQ(UnderFilter(probe), ENOSYS) << probe.name;
  }
}

TEST(Kernel, RefusesCloneWithAnyNamespaceFlag) {
  for (const unsigned long flag : std::initializer_list<unsigned long>{
           CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID,
           CLONE_NEWNET}) {
    const Probe plain{"clone", SYS_clone, {flag | SIGCHLD}};
    const Probe with_high_bits{"clone", SYS_clone, {1UL << 32U | flag | SIGCHLD}};
    EXPECT_EQ(UnderFilter(plain), EPERM) << std::hex << flag;
    EXPECT_EQ(UnderFilter(with_high_bits), EPERM) << std::hex << flag;
  }
}

TEST(Kernel, AnswersClone3AndUnknownNumbersWithEnosys) {
  for (const long number : {long{SYS_clone3}, 9999L, 340L, 423L, 451L, 0x40000000L + SYS_getpid}) {
    EXPECT_EQ(UnderFilter({"", number}), ENOSYS) << number;
  }
}

TEST(Kernel, CallsThatLibcProbesAnswerAsWithoutTheFilter) {
  for (const Probe& probe :
       {Probe{"openat2", SYS_openat2}, Probe{"faccessat2", SYS_faccessat2},
        Probe{"statx", SYS_statx}, Probe{"rseq", SYS_rseq}, Probe{"membarrier", SYS_membarrier},
        Probe{"getrandom", SYS_getrandom}, Probe{"close_range", SYS_close_range, {1, 0}},
        Probe{"epoll_pwait2", SYS_epoll_pwait2, {~0UL}}}) {
    EXPECT_EQ(UnderFilter(probe), WithoutFilter(probe)) << probe.name;
  }
}

// The answer of getpid by the 32-bit gate, as errno; 0 when it gave a pid.
int GetpidByInt80() {
  int result = 20;  // getpid there, writev here
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result < 0 ? -result : 0;
}

TEST(Kernel, TheThirtyTwoBitGateEndsRefused) {
  const int answer = InChild(Filter::kLoaded, [] { return GetpidByInt80(); });
  // A kernel without the gate kills the caller instead.
  EXPECT_TRUE(answer == EPERM || answer == 128 + SIGSEGV) << answer;
}

TEST(Kernel, RefusesEverySocketFamilyButUnix) {
  for (unsigned long family = 0; family < 64; ++family) {
    const Probe one{"socket", SYS_socket, {family, SOCK_STREAM}};
    const int pair = InChild(Filter::kLoaded, [&] {
      int fds[2];
      return ::socketpair(static_cast<int>(family), SOCK_STREAM, 0, fds) == 0 ? 0 : errno;
    });
    EXPECT_EQ(UnderFilter(one), family == AF_UNIX ? 0 : EPERM) << family;
    EXPECT_EQ(pair, family == AF_UNIX ? 0 : EPERM) << family;
  }
}

TEST(Kernel, RefusesTerminalInputWhateverTheHighBitsOfTheCommand) {
  // On no descriptor at all, so that EBADF would show a call that was let through.
  for (const unsigned long command :
       {0x5412UL, 0x541CUL, 1UL << 32U | 0x5412UL, 1UL << 63U | 0x541CUL}) {
    EXPECT_EQ(UnderFilter({"ioctl", SYS_ioctl, {~0UL, command}}), EPERM) << std::hex << command;
  }
  EXPECT_EQ(UnderFilter({"ioctl", SYS_ioctl, {~0UL, TIOCGWINSZ}}), EBADF);
}

TEST(Kernel, LetsThePersonalityBeReadButNotChanged) {
  EXPECT_EQ(UnderFilter({"personality", SYS_personality, {0xffffffff}}), 0);
  EXPECT_EQ(UnderFilter({"personality", SYS_personality, {0}}), 0);
  EXPECT_EQ(UnderFilter({"ADDR_NO_RANDOMIZE", SYS_personality, {0x0040000}}), EPERM);
}

class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "plimsoll-policy-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string Path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TEST(Kernel, MakesNamedPipesAndNoDevices) {
  const Folder folder;
  const std::string name = folder.Path("node");
  const auto path = reinterpret_cast<unsigned long>(name.c_str());
  const auto here = static_cast<unsigned long>(AT_FDCWD);
  EXPECT_EQ(UnderFilter({"mknodat", SYS_mknodat, {here, path, S_IFIFO | 0600}}), 0);
  EXPECT_EQ(UnderFilter({"mknod again", SYS_mknod, {path, S_IFIFO | 0600}}), EEXIST);
  for (const unsigned long type :
       std::initializer_list<unsigned long>{S_IFCHR, S_IFBLK, S_IFREG, S_IFSOCK}) {
    EXPECT_EQ(UnderFilter({"mknod", SYS_mknod, {path, type | 0600}}), EPERM) << type;
    EXPECT_EQ(UnderFilter({"mknodat", SYS_mknodat, {here, path, type | 0600}}), EPERM) << type;
  }
}

TEST(Kernel, ThreadsAndProcessesStart) {
  EXPECT_EQ(InChild(Filter::kLoaded,
                    [] {
                      int answer = 1;
                      std::thread([&] { answer = 0; }).join();
                      return answer;
                    }),
            0);
  EXPECT_EQ(InChild(Filter::kLoaded, [] { return InChild(Filter::kNone, [] { return 7; }); }), 7);
}

// The output of a shell script under the filter, both streams; its exit status in front.
std::string RunScript(const std::string& script, const std::string& output_path) {
  const int status = InChild(Filter::kLoaded, [&] {
    const int out = ::open(output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (out < 0 || ::dup2(out, 1) < 0 || ::dup2(out, 2) < 0) return 254;
    ::execl("/bin/sh", "sh", "-ec", script.c_str(), nullptr);
    return 253;
  });
  std::ifstream file(output_path, std::ios::binary);
  return std::to_string(status) + " " + std::string(std::istreambuf_iterator<char>(file), {});
}

// With EPERM for extended attributes most of these fail, with ENOSYS some complain or lose the
// file's mode.
TEST(Kernel, FileToolsDoWithoutExtendedAttributes) {
  const Folder folder;
  const std::string script = "cd " + folder.Path("") +
                             "\n"
                             "echo text > one; chmod 640 one\n"
                             "ls -l . one > /dev/null\n"
                             "cp -p one two; cp -a one three; install -m 755 one four\n"
                             "mv two five; sed -i s/text/word/ five; cat five\n"
                             "stat -c %a one three four five\n";
  EXPECT_EQ(RunScript(script, folder.Path("output")), "0 word\n640\n640\n755\n640\n");
}

}  // namespace
}  // namespace plimsoll::policy
