// The system call filter as a guest meets it.

#include <map>

#include "base/text.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::Outcome;
using testing_support::PlimsollTest;
using testing_support::RunCommand;

using Answers = std::map<std::string, std::string>;

Answers ReadAnswers(const Outcome& outcome) {
  Answers answers;
  for (const std::string_view line : Split(outcome.out, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos)
      answers[std::string(line.substr(0, blank))] = line.substr(blank + 1);
  }
  return answers;
}

class SystemCalls : public PlimsollTest {
 protected:
  Answers InGuest() const {
    const Outcome outcome = RunExec({"-v", ProbesVolume(), "--", "/probes/syscalls"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return ReadAnswers(outcome);
  }
  static Answers OnHost(const std::vector<std::string>& names) {
    std::vector<std::string> arguments = names;
    arguments.insert(arguments.begin(), std::string(PLIMSOLL_PROBES_DIR) + "/syscalls");
    return ReadAnswers(RunCommand({.arguments = std::move(arguments), .environment = {}}));
  }
};

TEST_F(SystemCalls, ThatAreNewerThanTheProfileAreUnknown) {
  Answers guest = InGuest();
  // Libraries fall back on ENOSYS, and on nothing else.
  for (const std::string name : {"clone3", "number-9999", "number-4294967295", "x32-getpid"}) {
    EXPECT_EQ(guest[name], "ENOSYS") << name;
  }
  for (const std::string name : {"io_uring_setup", "io_uring_enter", "io_uring_register"}) {
    EXPECT_TRUE(guest[name] == "ENOSYS" || guest[name] == "EPERM") << name << " " << guest[name];
  }
}

TEST_F(SystemCalls, ThatLibrariesTryFirstWorkAsOnTheHost) {
  const std::vector<std::string> names = {"openat2",    "faccessat2", "statx",      "rseq",
                                          "membarrier", "getrandom",  "socket-unix"};
  Answers guest = InGuest();
  Answers host = OnHost(names);
  for (const std::string& name : names) {
    EXPECT_TRUE(guest[name] == host[name] || guest[name] == "ENOSYS")
        << name << ": guest " << guest[name] << ", host " << host[name];
  }
}

TEST_F(SystemCalls, ThatReachTheKernelOrOtherProcessesAreRefused) {
  Answers guest = InGuest();
  const std::vector<std::string> refused = {"unshare-user",
                                            "unshare-mount",
                                            "unshare-net",
                                            "clone-user",
                                            "clone-mount",
                                            "clone-pid",
                                            "clone-net",
                                            "clone-ipc",
                                            "clone-uts",
                                            "clone-cgroup",
                                            "mount",
                                            "umount2",
                                            "pivot_root",
                                            "chroot",
                                            "open_tree",
                                            "fsopen",
                                            "move_mount",
                                            "mount_setattr",
                                            "ptrace",
                                            "bpf",
                                            "keyctl",
                                            "add_key",
                                            "request_key",
                                            "perf_event_open",
                                            "userfaultfd",
                                            "kexec_load",
                                            "open_by_handle_at",
                                            "process_vm_readv",
                                            "process_vm_writev",
                                            "setns",
                                            "init_module",
                                            "reboot",
                                            "swapon",
                                            "acct",
                                            "settimeofday",
                                            "sethostname",
                                            "pidfd_getfd",
                                            "tiocsti",
                                            "tioclinux"};
  for (const std::string& name : refused) {
    EXPECT_TRUE(guest[name] == "EPERM" || guest[name] == "ENOSYS") << name << " " << guest[name];
  }
}

TEST_F(SystemCalls, MakeNoSocketButLocalOnes) {
  Answers guest = InGuest();
  for (const std::string name :
       {"socket-packet", "socket-netlink", "socket-vsock", "socket-alg", "socket-bluetooth",
        "socket-inet", "socket-inet6", "socket-inet-raw"}) {
    EXPECT_FALSE(guest[name] == "ok" || guest[name].empty()) << name << " " << guest[name];
  }
  EXPECT_EQ(guest["socket-unix"], "ok");
}

TEST_F(SystemCalls, NeverEndTheGuestBySignal) {
  for (const auto& [name, answer] : InGuest()) {
    EXPECT_NE(answer.substr(0, 6), "signal") << name;
  }
}

TEST_F(SystemCalls, ByTheGateOf32BitsAreRefusedOrEndTheGuest) {
  const Outcome outcome = RunExec({"-v", ProbesVolume(), "--", "/probes/int80"});
  EXPECT_EQ(outcome.out.find("a process id"), std::string::npos);
  EXPECT_TRUE(outcome.out == "refused\n" || outcome.status == 128 + 31 ||
              outcome.status == 128 + 11)
      << outcome.status << outcome.out;
}

}  // namespace
}  // namespace plimsoll
