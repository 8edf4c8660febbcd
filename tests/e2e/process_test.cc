// The guest's processes: reaped, ended with the run, and started with nothing of the caller's.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Command;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::Process;
using testing_support::RunCommand;
using testing_support::WaitForOrphans;

class Processes : public PlimsollTest {};

constexpr std::chrono::seconds kASecond{1};
constexpr std::chrono::seconds kPromptly{5};  // against sleepers of 30 s and more

TEST_F(Processes, ADetachedGrandchildDoesNotDelayTheEnd) {
  const Outcome outcome = RunScript("(setsid sleep 30 &); exit 0");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_LT(outcome.wall, kPromptly);
  EXPECT_TRUE(WaitForOrphans(kASecond));
}

TEST_F(Processes, TheEndKillsWhatIgnoresEverySignal) {
  const Outcome outcome =
      RunScript("(trap '' TERM HUP INT QUIT; setsid sleep 30 & sleep 30) & exit 4");
  EXPECT_EQ(outcome.status, 4);
  EXPECT_LT(outcome.wall, kPromptly);
  EXPECT_TRUE(WaitForOrphans(kASecond));
}

TEST_F(Processes, OrphansAreReaped) {
  const Outcome outcome = RunScript(
      "for i in $(seq 2000); do (true &); done\n"
      "zombies() { grep -l 'State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l; }\n"
      "n=0; while [ $(zombies) != 0 ] && [ $n -lt 1000 ]; do n=$((n+1)); done\n"
      "zombies");
  EXPECT_EQ(outcome.out, "0\n");
}

TEST_F(Processes, NothingIsLeftOfASandboxWhoseRunnerWasKilled) {
  Process runner(Script("trap '' TERM HUP INT; echo up; setsid sleep 99 & sleep 99"));
  runner.ReadUntil("up");
  runner.Signal(SIGKILL);
  runner.Wait();
  EXPECT_TRUE(WaitForOrphans(kASecond));
}

// A shell that starts the command in the background and waits, as a build server's agent does.
Command UnderAShell(Command command) {
  const std::vector<std::string> shell = {"/bin/sh", "-c", "\"$@\" & wait", "sh"};
  command.arguments.insert(command.arguments.begin(), shell.begin(), shell.end());
  return command;
}

TEST_F(Processes, EndWithTheParentOfTheRunnerWhenAsked) {
  Process shell(UnderAShell(
      Script("trap '' TERM HUP INT; echo up; setsid sleep 99 & sleep 99", {"--die-with-parent"})));
  shell.ReadUntil("up");
  shell.Signal(SIGKILL);
  shell.Wait();
  EXPECT_TRUE(WaitForOrphans(kASecond));
}

TEST_F(Processes, OutliveTheParentOfTheRunnerWhenNotAsked) {
  Process shell(UnderAShell(Script("echo up; until [ -e /src/go ]; do sleep 0.01; done; echo end",
                                   {"-v", Workspace() + ":/src"})));
  shell.ReadUntil("up");
  shell.Signal(SIGKILL);
  Folder().WriteFile("workspace/go", "");
  EXPECT_EQ(shell.Wait().out, "up\nend\n");
  EXPECT_TRUE(WaitForOrphans(kPromptly));
}

TEST_F(Processes, SignalsReachTheGuest) {
  for (const int number : {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH}) {
    const std::string trap = "trap 'echo got; exit 7' " + std::to_string(number);
    Process runner(Script(trap + "; echo up; while :; do sleep 0.05; done"));
    runner.ReadUntil("up");
    runner.Signal(number);
    const Outcome outcome = runner.Wait();
    EXPECT_EQ(outcome.out, "up\ngot\n") << number;
    EXPECT_EQ(outcome.status, 7) << number;
  }
}

TEST_F(Processes, AnUntrappedSignalEndsTheGuestAndTheRun) {
  for (const int number : {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGALRM}) {
    Process runner(Script("echo up; exec sleep 99"));
    runner.ReadUntil("up");
    runner.Signal(number);
    EXPECT_EQ(runner.Wait().status, 128 + number);
  }
}

TEST_F(Processes, AnInterruptedRunStillGivesItsResponse) {
  for (const int number : {SIGINT, SIGTERM}) {
    testing_support::Doorbell bell(Folder());
    testing_support::Words flags = bell.Flags();
    flags.emplace_back("--json");
    Process runner(Script(bell.Ring() + "; exec sleep 99", flags));
    bell.Wait();
    runner.Signal(number);
    const Outcome outcome = runner.Wait();
    const auto answer = ParseAnswer(outcome);
    EXPECT_EQ(outcome.status, 128 + number);
    EXPECT_EQ(At(answer, "/project/steps/0/signal"), std::to_string(number));
  }
}

TEST_F(Processes, TheGuestHasNoOtherDescriptorsThanItsStreams) {
  Command command = Exec({"-v", ProbesVolume(), "--", "/probes/descriptors"});
  command.prepare = [] {
    for (int fd = 3; fd <= 50; ++fd)
      (void)::dup2(::open("/etc/passwd", O_RDONLY), fd);
  };
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.out, "0 1 2\n");
}

TEST_F(Processes, SignalsOfTheGuestAreAtTheirDefaults) {
  Command command = Exec({"--", "grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"});
  command.prepare = [] {
    for (int number = 1; number < 32; ++number)
      (void)::signal(number, SIG_IGN);
    sigset_t all;
    ::sigfillset(&all);
    (void)::sigprocmask(SIG_BLOCK, &all, nullptr);
  };
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.out,
            "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n");
}

TEST_F(Processes, TheGuestHasNoPrivileges) {
  const Outcome outcome =
      RunExec({"--", "grep", "-E", "^(Cap|NoNewPrivs|Seccomp:)", "/proc/self/status"});
  const std::string none = "\t0000000000000000\n";
  EXPECT_EQ(outcome.out, "CapInh:" + none + "CapPrm:" + none + "CapEff:" + none + "CapBnd:" + none +
                             "CapAmb:" + none + "NoNewPrivs:\t1\nSeccomp:\t2\n");
}

TEST_F(Processes, ASetIdProgramGainsNothing) {
  Folder().WriteFile("workspace/prog", "#!/bin/sh\nid -u; grep NoNewPrivs /proc/self/status\n");
  ASSERT_EQ(::chmod((Workspace() + "/prog").c_str(), 06755), 0);
  const Outcome outcome = RunScript("stat -c %a /src/prog; /src/prog", {"-v", ".:/src"});
  EXPECT_EQ(outcome.out, "6755\n1000\nNoNewPrivs:\t1\n");
}

TEST_F(Processes, TheGuestsLimitsAndMaskAreOurs) {
  Command command = Script("umask; ulimit -n; ulimit -Hc");
  command.prepare = [] {
    (void)::umask(0777);
    const struct rlimit files = {.rlim_cur = 64, .rlim_max = 64};
    (void)::setrlimit(RLIMIT_NOFILE, &files);
  };
  // 1 byte of core is "0 blocks": a core handler behind a pipe starts at 0 and not at 1.
  EXPECT_EQ(RunCommand(std::move(command)).out, "0022\n64\n0\n");
}

TEST_F(Processes, TheGuestLeadsItsSessionAndHasNoTerminal) {
  const Outcome outcome =
      RunScript("cut -d' ' -f1,5,6 /proc/$$/stat; echo $$; (: < /dev/tty) 2>&1 | sed 's/.*: //'");
  EXPECT_EQ(outcome.out, "2 2 2\n2\nNo such device or address\n");
}

}  // namespace
}  // namespace plimsoll
