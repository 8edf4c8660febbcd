// `plimsoll policy`, profiles of the user's own, and learning runs.

#include <signal.h>
#include <sys/stat.h>

#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Command;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::Process;
using testing_support::ReadWholeFile;
using testing_support::RunCommand;
using testing_support::WaitForOrphans;
using testing_support::Words;
using testing_support::Writable;

class Policy : public PlimsollTest {
 protected:
  Outcome RunPolicy(Words words) const {
    words.insert(words.begin(), "policy");
    return RunCommand(Plimsoll(std::move(words)));
  }
  std::string Write(const std::string& name, const std::string& text) const {
    Folder().WriteFile(name, text);
    return Folder() / name;
  }
};

// Small, in the engines' form: everything but three calls is allowed, for kernels and capabilities
// that the guest has, and for ones that it has not.
constexpr const char* kForeign =
    R"({"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":38,"defaultErrno":"ENOSYS",)"
    R"("archMap":[{"architecture":"SCMP_ARCH_X86_64","subArchitectures":["SCMP_ARCH_X86"]}],)"
    R"("syscalls":[{"names":["read","write","readv","writev","open","openat","close","stat","fstat",)"
    R"("lstat","newfstatat","lseek","mmap","mprotect","munmap","brk","rt_sigaction","rt_sigprocmask",)"
    R"("rt_sigreturn","ioctl","access","pipe","pipe2","dup","dup2","fcntl","getpid","getppid","clone",)"
    R"("fork","vfork","execve","exit","exit_group","wait4","uname","getcwd","chdir","getuid","getgid",)"
    R"("geteuid","getegid","setgid","setuid","arch_prctl","set_tid_address","set_robust_list","rseq",)"
    R"("prlimit64","getrandom","readlink","prctl","statx","ptrace","mount","unshare","socket",)"
    R"("setpgid","getpgrp","getpgid","nanosleep","clock_nanosleep","poll","umask","sysinfo"],)"
    R"("action":"SCMP_ACT_ALLOW","args":null,"comment":"","includes":{},"excludes":{}},)"
    R"({"names":["mkdir"],"action":"SCMP_ACT_ALLOW","includes":{"caps":["CAP_SYS_ADMIN"]}},)"
    R"({"names":["rmdir"],"action":"SCMP_ACT_ALLOW","includes":{"minKernel":"99.0"}},)"
    R"({"names":["unlink"],"action":"SCMP_ACT_ERRNO","errnoRet":13,"errno":"EACCES"}]})";

TEST_F(Policy, TheSdkDifferenceIsThatOfTheReference) {
  const Outcome outcome = RunPolicy({"diff", "default", "--with", "sdk", "--json"});
  EXPECT_EQ(outcome.status, 1);
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/added"), "10");
  EXPECT_EQ(At(answer, "/removed"), "2");
  EXPECT_EQ(At(answer, "/unchanged"), "243");
  EXPECT_EQ(At(answer, "/added/8/args"), "arg0 == 2, arg1 & 0xfff7f7ff == 1, arg2 == 0");
  EXPECT_EQ(RunPolicy({"diff", "default", "--with", "sdk", "--expect", "sdk"}).status, 0);
  EXPECT_EQ(RunPolicy({"diff", "default", "default"}).status, 0);
}

TEST_F(Policy, ADerivedProfileIsTheSamePolicyAgain) {
  for (const std::string difference : {"sdk", "rw-volume"}) {
    const std::string file = Write("derived.json", RunPolicy({"derive", difference}).out);
    EXPECT_EQ(RunPolicy({"diff", file, "default", "--with", difference}).status, 0) << difference;
    EXPECT_EQ(At(ParseAnswer(RunPolicy({"digest", file, "--json"})), "/program"),
              At(ParseAnswer(RunPolicy({"digest", "--with", difference, "--json"})), "/program"));
  }
}

TEST_F(Policy, DigestsAreThoseOfTheRun) {
  const std::string foreign = Write("foreign.json", kForeign);
  struct Row {
    Words digest;
    Words exec;
  };
  const std::vector<Row> rows = {{{}, {}},
                                 {{"--with", "rw-volume"}, Writable(Workspace() + ":/src")},
                                 {{foreign}, {"--seccomp", foreign}}};
  for (const Row& row : rows) {
    Words words = {"digest", "--json"};
    words.insert(words.end(), row.digest.begin(), row.digest.end());
    const auto said = ParseAnswer(RunPolicy(words));
    Words flags = row.exec;
    flags.emplace_back("--json");
    const auto run = ParseAnswer(RunScript("true", flags));
    EXPECT_EQ(At(run, "/policy"), At(said, "/policy"));
    EXPECT_EQ(At(run, "/confinement/program"), At(said, "/program"));
    EXPECT_EQ(At(ParseAnswer(RunPolicy(words)), "/program"), At(said, "/program"));
  }
}

TEST_F(Policy, CheckFindsWhatNoGuestMayHave) {
  EXPECT_EQ(RunPolicy({"check", "default"}).status, 0);
  const Outcome open = RunPolicy(
      {"check", Write("open.json", R"({"defaultAction":"SCMP_ACT_ALLOW","syscalls":[]})")});
  EXPECT_EQ(open.status, 1);
  EXPECT_NE(open.out.find("allows by default"), std::string::npos) << open.out;
  const std::string foreign = Write("foreign.json", kForeign);
  EXPECT_EQ(RunPolicy({"check", foreign}).status, 1);
  EXPECT_EQ(RunPolicy({"check", "--foreign", foreign}).status, 0);
  EXPECT_EQ(RunPolicy({"check", "/no/such/file"}).status, 2);
  const Outcome bad = RunPolicy({"check", Write("bad.json", R"({"defaultAction":"X"})")});
  EXPECT_EQ(bad.status, 2);
  EXPECT_NE(bad.err.find("bad.json"), std::string::npos) << bad.err;
  EXPECT_NE(bad.err.find("/defaultAction"), std::string::npos) << bad.err;
}

TEST_F(Policy, FailuresAreOneDocumentWithJson) {
  const std::vector<Words> lines = {{"check", "/no/such/file", "--json"},
                                    {"explain", "--json", "opne"},
                                    {"derive", "skd", "--json"},
                                    {"nothing", "--json"}};
  for (const Words& words : lines) {
    const Outcome outcome = RunPolicy(words);
    EXPECT_NE(outcome.status, 0) << words[0];
    EXPECT_NE(At(ParseAnswer(outcome), "/refusal/message"), "missing") << words[0];
    EXPECT_EQ(outcome.err.find("plimsoll: "), 0U) << words[0];
  }
}

TEST_F(Policy, ATypingErrorIsAnsweredWithTheNearestName) {
  EXPECT_NE(RunPolicy({"explain", "opne"}).err.find("did you mean 'open'?"), std::string::npos);
  EXPECT_NE(RunPolicy({"derive", "skd"}).err.find("did you mean 'sdk'?"), std::string::npos);
  EXPECT_NE(RunPolicy({"chekc"}).err.find("did you mean 'check'?"), std::string::npos);
}

TEST_F(Policy, AForeignProfileHoldsBehindTheGuard) {
  const std::string foreign = Write("foreign.json", kForeign);
  const Outcome outcome = RunScript(
      "echo runs; mkdir /tmp/d; rmdir /tmp/d; echo > /tmp/f; unlink /tmp/f; unshare -U true; "
      "mount -t tmpfs x /tmp",
      {"--seccomp", foreign});
  EXPECT_EQ(outcome.out, "runs\n");
  EXPECT_NE(outcome.err.find("mkdir: can't create directory '/tmp/d': Function not implemented"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("'/tmp/f': Permission denied"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("unshare(0x10000000): Operation not permitted"), std::string::npos);
}

TEST_F(Policy, AForeignProfileIsCompiledOnceAndADamagedCopyAgain) {
  const std::string foreign = Write("foreign.json", kForeign);
  const std::string store = Folder() / "own-store";
  const Words flags = {"--store", store, "--seccomp", foreign};
  ASSERT_EQ(RunScript("true", flags).status, 0);
  const auto cached = testing_support::ListTree(store + "/policies");
  ASSERT_EQ(cached.size(), 1U);
  const std::string path = cached[0].substr(0, cached[0].find(' '));
  const std::string good = ReadWholeFile(path);
  std::string damaged = good;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  ASSERT_EQ(RunCommand({.arguments = {"/bin/sh", "-c", "cat > \"$0\"", path},
                        .environment = {"PATH=/usr/bin:/bin"},
                        .input = damaged})
                .status,
            0);
  EXPECT_EQ(RunScript("true", flags).status, 0);
  EXPECT_EQ(ReadWholeFile(path), good);
}

TEST_F(Policy, AProfileThatCannotBeUsedRefusesTheRun) {
  const std::string open =
      Write("open.json", R"({"defaultAction":"SCMP_ACT_ALLOW","syscalls":[]})");
  for (const std::string& file : {open, std::string("/no/such/file")}) {
    const Outcome outcome = RunScript("echo ran", {"--seccomp", file});
    EXPECT_EQ(outcome.status, 125) << file;
    EXPECT_EQ(outcome.out, "") << file;
    EXPECT_NE(outcome.err.find(file), std::string::npos) << outcome.err;
  }
}

TEST_F(Policy, AWritableVolumeTakesNoSetIdBit) {
  const std::string folder = Folder() / "shared";
  Folder().MakeDirectory("shared");
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  const Outcome outcome = RunScript(
      "cd /src; echo x > f; for m in 4755 2755 6755; do chmod $m f && echo made $m; done; "
      "install -m 4755 f g && echo installed; mkfifo -m 4755 p && echo fifo; chmod 755 f; "
      "mkdir d; cp -p f d; ls -l f | cut -c1-10",
      Writable(folder + ":/src"));
  EXPECT_EQ(outcome.out, "-rwxr-xr-x\n") << outcome.err;
  EXPECT_EQ(RunScript("cd /tmp; echo x > f; chmod 4755 f && echo made").out, "made\n")
      << "without such a volume the policy is the default";
}

TEST_F(Policy, ALearningRunNamesWhatWasRefusedAndRefusesIt) {
  const Outcome outcome =
      RunScript("unshare -U true; unshare -U true; mount -t tmpfs x /tmp; echo end",
                {"--seccomp-log", "--json"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/steps/0/stdout/text"), "end\n");
  EXPECT_NE(At(answer, "/project/steps/0/stderr/text").find("Operation not permitted"),
            std::string::npos);
  EXPECT_EQ(At(answer, "/refused_calls"), "2");
  EXPECT_EQ(At(answer, "/refused_calls/0/syscall"), "mount");
  EXPECT_EQ(At(answer, "/refused_calls/0/count"), "1");
  EXPECT_EQ(At(answer, "/refused_calls/1/syscall"), "unshare");
  EXPECT_EQ(At(answer, "/refused_calls/1/count"), "2");
  EXPECT_EQ(At(answer, "/refused_calls_uncounted"), "0");
  for (const std::string call : {"0", "1"}) {
    const std::string at = "/refused_calls/" + call;
    Words words = {"explain", "--json", At(answer, at + "/syscall")};
    for (int i = 0; i < 6; ++i)
      words.push_back(At(answer, at + "/arguments/" + std::to_string(i)));
    EXPECT_EQ(At(ParseAnswer(RunPolicy(words)), "/errno"), At(answer, at + "/errno")) << call;
  }
}

TEST_F(Policy, ALearningRunOfALoopCountsEveryCall) {
  const Outcome outcome = RunScript(
      "for j in 1 2 3 4; do (for i in $(seq 50); do unshare -U true; done) & done 2>/dev/null; "
      "wait",
      {"--seccomp-log", "--json"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/refused_calls/0/syscall"), "unshare");
  EXPECT_EQ(At(answer, "/refused_calls/0/count"), "200");
}

TEST_F(Policy, ALearningRunEndsWithItsGuestOrItsLimitOrItsRunner) {
  EXPECT_EQ(RunScript("unshare -U true; exit 7", {"--seccomp-log"}).status, 7);
  EXPECT_EQ(RunExec({"--seccomp-log", "/no/such/program"}).status, 127);
  EXPECT_EQ(RunScript("while :; do unshare -U true; done 2>/dev/null",
                      {"--seccomp-log", "--timeout", "300ms", "--kill-after", "0s"})
                .status,
            124);
  Process runner(
      Script("echo up; while :; do unshare -U true; done 2>/dev/null", {"--seccomp-log"}));
  runner.ReadUntil("up");
  runner.Signal(SIGKILL);
  runner.Wait();
  EXPECT_TRUE(WaitForOrphans(std::chrono::seconds(2)));
}

TEST_F(Policy, ThatRefusesEveryCommandCannotBeLearned) {
  const std::string none =
      Write("none.json", R"({"defaultAction":"SCMP_ACT_ERRNO","syscalls":[]})");
  const Outcome outcome = RunScript("true", {"--seccomp", none, "--seccomp-log"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_NE(outcome.err.find("without which no command can be started"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace plimsoll
