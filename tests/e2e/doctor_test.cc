// `plimsoll doctor` on this machine, and on hosts that this machine is made to look like: the
// answer is that of a real run, the reason is named, and nothing is left behind.

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "support/plimsoll.h"
#include "support/process.h"
#include "support/temp_dir.h"
#include "sys/file.h"

namespace plimsoll {
namespace {

using testing_support::Command;
using testing_support::Outcome;
using testing_support::RunCommand;
using testing_support::TempDir;

constexpr unsigned kOrdinaryId = 12345;  // of a user who needs no account, for tests run by root

// A home for an ordinary user, whoever runs the tests.
class Doctor : public ::testing::Test {
 protected:
  Doctor() {
    if (::geteuid() == 0) {
      EXPECT_EQ(::chown(home_.Path().c_str(), kOrdinaryId, kOrdinaryId), 0);
    }
  }

  Command CommandOf(std::vector<std::string> arguments) const {
    return {.arguments = std::move(arguments),
            .environment = {"HOME=" + home_.Path(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
            .directory = "/"};
  }

  static void BecomeOrdinary() {
    if (::geteuid() != 0) return;
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kOrdinaryId, kOrdinaryId, kOrdinaryId) != 0 ||
        ::setresuid(kOrdinaryId, kOrdinaryId, kOrdinaryId) != 0) {
      ::_exit(99);
    }
  }

  // doctor as an ordinary user.
  Outcome Run(std::vector<std::string> flags = {}, std::function<void()> prepare = {}) const {
    flags.insert(flags.begin(), {testing_support::Binary(), "doctor"});
    Command command = CommandOf(std::move(flags));
    command.prepare = [prepare = std::move(prepare)] {
      BecomeOrdinary();
      if (prepare) prepare();
    };
    return RunCommand(std::move(command));
  }

  // doctor as an ordinary user in a user and mount namespace that `script` (of sh) has set up with
  // all capabilities there.
  Outcome RunBehind(const std::string& script) const {
    std::vector<std::string> words = {"/usr/bin/unshare", "--user", "--map-current-user",
                                      "--keep-caps", "--mount"};
    const std::string doctor = testing_support::Binary() + " doctor";
    words.insert(words.end(), {"/bin/sh", "-ec", script + "\nexec " + doctor});
    Command command = CommandOf(std::move(words));
    command.prepare = BecomeOrdinary;
    return RunCommand(std::move(command));
  }

  TempDir home_;
};

std::vector<std::string> NamesIn(const std::string& path) {
  const auto folder = sys::Open(path, O_RDONLY | O_DIRECTORY);
  if (!folder) return {"cannot be opened"};
  auto names = sys::ListDirectory(folder->Get(), path);
  return names ? *std::move(names) : std::vector<std::string>{"cannot be read"};
}

// The report's line of one check, without its cures.
std::string LineOf(const Outcome& outcome, const std::string& check) {
  std::size_t start = 0;
  while (start < outcome.out.size()) {
    const std::size_t end = std::min(outcome.out.find('\n', start), outcome.out.size());
    const std::string line = outcome.out.substr(start, end - start);
    if (line.compare(8, check.size() + 1, check + " ") == 0) return line;
    start = end + 1;
  }
  return "no line of '" + check + "' in: " + outcome.out + outcome.err;
}

bool SaysNo(const std::string& line) {
  return line.starts_with("no ");
}

void Load(std::vector<struct sock_filter> program) {
  const struct sock_fprog filter = {.len = static_cast<unsigned short>(program.size()),
                                    .filter = program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    ::_exit(98);
  }
}

constexpr unsigned kNumber = offsetof(struct seccomp_data, nr);

// As a container engine's filter does it.
void ForbidClone3() {
  Load({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)});
}

// As a host with vm.memfd_noexec=2 does it: EACCES for MFD_EXEC.
void ForbidExecutableMemfds() {
  constexpr unsigned kFlags = offsetof(struct seccomp_data, args) + sizeof(std::uint64_t);
  constexpr unsigned kExecutable = 0x10;  // MFD_EXEC, memfd_create(2)
  Load({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kExecutable, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)});
}

TEST_F(Doctor, SaysThatARunWorksWhereOneWorks) {
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.ends_with("A run works on this host.\n")) << outcome.out;
  EXPECT_EQ(
      LineOf(outcome, "run").find("'true' ran in a sandbox and exited with 0") == std::string::npos,
      false)
      << outcome.out;
}

TEST_F(Doctor, AnswersTheSameBytesTwiceAsJson) {
  const Outcome first = Run({"--json"});
  const Outcome second = Run({"--json"});
  EXPECT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_EQ(first.out, second.out);
  EXPECT_TRUE(first.out.starts_with("{\n  \"works\": true,\n  \"checks\": [\n")) << first.out;
}

TEST_F(Doctor, LeavesNothingBehind) {
  testing_support::AdoptOrphans();
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(NamesIn(home_.Path()), std::vector<std::string>{});
  EXPECT_TRUE(testing_support::WaitForOrphans(testing_support::kPatience));
}

TEST_F(Doctor, UsesAStoreThatIsThereAndLeavesNothingOfItsOwnInIt) {
  Command exec = CommandOf({testing_support::Binary(), "exec", "--", "true"});
  exec.prepare = BecomeOrdinary;
  ASSERT_EQ(RunCommand(std::move(exec)).status, 0);
  const std::string store = home_ / ".local/share/plimsoll";
  const auto before = NamesIn(store);
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(LineOf(outcome, "store").find("'" + store + "' is there"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(NamesIn(store), before);
}

TEST_F(Doctor, WritesNoColourWhenNobodyWatches) {
  EXPECT_EQ(Run().out.find('\033'), std::string::npos);
}

TEST_F(Doctor, NamesTheFilterThatForbidsNamespaces) {
  const Outcome outcome = Run({}, ForbidClone3);
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  const std::string line = LineOf(outcome, "user-namespaces");
  EXPECT_TRUE(SaysNo(line)) << line;
  EXPECT_NE(line.find("a seccomp filter around plimsoll"), std::string::npos) << line;
  EXPECT_TRUE(SaysNo(LineOf(outcome, "run"))) << outcome.out;
}

TEST_F(Doctor, NamesTheLimitOfUserNamespaces) {
  const Outcome outcome = RunBehind("echo 0 >/proc/sys/user/max_user_namespaces");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  const std::string line = LineOf(outcome, "user-namespaces");
  EXPECT_TRUE(SaysNo(line)) << line;
  EXPECT_NE(line.find("user.max_user_namespaces=0"), std::string::npos) << line;
  EXPECT_EQ(outcome.out.find("No space left"), std::string::npos) << outcome.out;
}

TEST_F(Doctor, NamesTheNamespaceWhoseLimitIsReached) {
  const Outcome outcome = RunBehind("echo 0 >/proc/sys/user/max_net_namespaces");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_FALSE(SaysNo(LineOf(outcome, "user-namespaces"))) << outcome.out;
  const std::string line = LineOf(outcome, "namespaces");
  EXPECT_NE(line.find("net: no more are allowed (user.max_net_namespaces=0)"), std::string::npos)
      << line;
}

TEST_F(Doctor, NamesAMaskedProc) {
  const Outcome outcome = RunBehind("mount --bind /dev/null /proc/version");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  const std::string line = LineOf(outcome, "proc");
  EXPECT_TRUE(SaysNo(line)) << line;
  EXPECT_NE(line.find("the outer /proc is masked ('/proc/version')"), std::string::npos) << line;
}

TEST_F(Doctor, NamesAStoreWhereNothingMayBeExecuted) {
  const Outcome outcome = RunBehind("mount -t tmpfs -o noexec,mode=0777 none " + home_.Path());
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(LineOf(outcome, "store").find("(noexec)"), std::string::npos) << outcome.out;
}

TEST_F(Doctor, SaysThatARunWorksWithoutExecutableMemfds) {
  const Outcome outcome = Run({}, ForbidExecutableMemfds);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const std::string line = LineOf(outcome, "executable-memfd");
  EXPECT_TRUE(line.starts_with("weaker")) << line;
  EXPECT_NE(line.find("started from a file in the store instead"), std::string::npos) << line;
}

TEST_F(Doctor, NamesALimitThatAGuestInherits) {
  const Outcome outcome = Run({}, [] {
    const struct rlimit limit = {.rlim_cur = 200, .rlim_max = 200};
    if (::setrlimit(RLIMIT_NPROC, &limit) != 0) ::_exit(97);
  });
  const std::string line = LineOf(outcome, "limits");
  EXPECT_TRUE(line.starts_with("weaker")) << line;
  EXPECT_NE(line.find("nproc is limited to 200"), std::string::npos) << line;
}

TEST_F(Doctor, SaysWhomTheGuestOfRootIs) {
  Command command = CommandOf({testing_support::Binary(), "doctor"});
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const std::string line = LineOf(outcome, "guest");
  const std::string expected = ::geteuid() == 0
                                   ? "on the host the guest is uid 65534, gid 65534"
                                   : "on the host the guest is uid " + std::to_string(::geteuid());
  EXPECT_NE(line.find(expected), std::string::npos) << line;
}

// An ordinary user of the host, as in a rootless container: nothing to give up, and a run works.
TEST_F(Doctor, AnswersTheRootOfAUserNamespaceAsARunDoes) {
  for (const std::string verb : {"exec -- true", "doctor"}) {
    Command command = CommandOf({"/usr/bin/unshare", "--user", "--map-root-user", "/bin/sh", "-c",
                                 testing_support::Binary() + " " + verb});
    command.prepare = BecomeOrdinary;
    const Outcome outcome = RunCommand(std::move(command));
    EXPECT_EQ(outcome.status, 0) << verb << "\n" << outcome.out << outcome.err;
  }
}

TEST_F(Doctor, RefusesAWrongCommandLine) {
  const Outcome flag = Run({"--jsno"});
  EXPECT_EQ(flag.status, 125);
  EXPECT_EQ(flag.out, "");
  EXPECT_EQ(flag.err,
            "plimsoll: unknown flag '--jsno'\n"
            "plimsoll: hint: did you mean '--json'? 'plimsoll doctor -h' lists the flags\n");
  const Outcome operand = Run({"me"});
  EXPECT_EQ(operand.status, 125);
  EXPECT_EQ(operand.err,
            "plimsoll: doctor takes no operand, but was given 'me'\n"
            "plimsoll: hint: 'plimsoll doctor -h' lists the flags\n");
}

TEST_F(Doctor, ExplainsItself) {
  const Outcome outcome = Run({"-h"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.out.find("Usage: plimsoll doctor [FLAGS]") != std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace plimsoll
