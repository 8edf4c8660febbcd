// A call of the runner itself fails, or of init while the guest runs: a run that fails says so, and
// 125 means that nothing ran.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "support/fail_call.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Call;
using testing_support::Caller;
using testing_support::Command;
using testing_support::FaultKind;
using testing_support::IsRoot;
using testing_support::ListTree;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::RunCommand;
using testing_support::RunWatched;
using testing_support::Watched;

constexpr int kInjected = EIO;
constexpr const char* kInjectedText = ": Input/output error (EIO)";
constexpr int kSetupFailed = 125;
constexpr int kKilled = 128 + 9;

class RunnerFault : public PlimsollTest {
 protected:
  RunnerFault() {
    EXPECT_EQ(RunScript("true").status, 0);  // makes the store
    usual_plan_ = At(ParseAnswer(RunScript("echo ran", {"--json"})), "/confinement/plan");
  }

  Watched RunWithFault(Caller caller, int call) const {
    return RunWatched(Script("echo ran", {"--json"}),
                      {.caller = caller, .call = call, .error = kInjected});
  }

  // The run was as ever, or a weaker one that says so.
  void ExpectUsualRun(const Watched& run, const std::string& where) const {
    const auto answer = ParseAnswer(run.outcome);
    EXPECT_EQ(At(answer, "/project/steps/0/stdout/text"), "ran\n") << where;
    if (run.outcome.err.empty()) {
      EXPECT_EQ(At(answer, "/confinement/plan"), usual_plan_) << where;
    }
  }

 private:
  std::string usual_plan_;
};

std::string Describe(int call, const Watched& run) {
  return "call " + std::to_string(call) + ", number " + std::to_string(run.hit->number) +
         ", status " + std::to_string(run.outcome.status) + ", " + run.outcome.err;
}

// What a C++ program cannot go on without; it ends, by an exception or in libc.
bool IsForMemoryOrThreads(long number) {
  static const std::set<long> numbers = {
      SYS_brk,        SYS_mmap,  SYS_munmap,          SYS_mprotect,
      SYS_madvise,    SYS_futex, SYS_set_robust_list, SYS_rseq,
      SYS_exit_group, SYS_exit};
  return numbers.count(number) != 0;
}

// Without these there is no sandbox, or none that is as strong as the plan says.
bool IsIndispensable(const Call& call) {
  static const std::set<long> numbers = {
      SYS_memfd_create, SYS_pipe2,     SYS_clone3,    SYS_signalfd4, SYS_flock,
      SYS_open_tree,    SYS_setgroups, SYS_setresgid, SYS_setresuid, SYS_clone,
      SYS_pidfd_open,   SYS_fcntl,     SYS_write};
  return numbers.count(call.number) != 0 ||
         (call.number == SYS_prctl &&
          (call.arguments[0] == PR_SET_DUMPABLE || call.arguments[0] == PR_SET_PDEATHSIG));
}

// The kernel has no failure for these with the arguments they have here; the waits are for children
// of their own.
bool CannotFail(const Call& call) {
  static const std::set<long> numbers = {SYS_geteuid, SYS_getegid,   SYS_uname,
                                         SYS_sysinfo, SYS_getpid,    SYS_getppid,
                                         SYS_waitid,  SYS_prlimit64, SYS_rt_sigaction};
  return numbers.count(call.number) != 0 ||
         (call.number == SYS_rt_sigprocmask && call.arguments[0] == SIG_SETMASK) ||
         (call.number == SYS_prctl && call.arguments[0] == PR_CAPBSET_READ);
}

TEST_F(RunnerFault, BeforeTheCloneIs125InASentenceOrChangesNothing) {
  std::set<long> seen;
  std::set<std::string> messages;
  for (const Caller caller : {Caller::kRunner, Caller::kWorker}) {
    for (int call = 1;; ++call) {
      const Watched run = RunWithFault(caller, call);
      if (!run.hit) break;
      if (!run.hit->before_clone || CannotFail(*run.hit)) continue;
      const std::string where = Describe(call, run);
      if (run.outcome.status == 0) {
        EXPECT_FALSE(IsIndispensable(*run.hit)) << where;
        ExpectUsualRun(run, where);
        continue;
      }
      EXPECT_FALSE(run.guest_started) << where;
      if (IsForMemoryOrThreads(run.hit->number)) continue;
      seen.insert(run.hit->number);
      messages.insert(run.outcome.err.substr(0, run.outcome.err.find('\n')));
      EXPECT_EQ(run.outcome.status, kSetupFailed) << where;
      EXPECT_EQ(run.outcome.err.find("plimsoll: "), 0U) << where;
    }
  }
  for (const long number : {SYS_memfd_create, SYS_pipe2, SYS_clone3, SYS_signalfd4, SYS_flock}) {
    EXPECT_EQ(seen.count(number), 1U) << number;
  }
  for (const long number :
       {SYS_setgroups, SYS_setresgid, SYS_setresuid, SYS_clone, SYS_pidfd_open}) {
    EXPECT_EQ(seen.count(number), IsRoot() ? 1U : 0U) << number;
  }
  for (const char* what :
       {"open '/dev/null'", "memfd_create 'plimsoll-init'", "write 'plimsoll-plan'",
        "seal memfd 'plimsoll-init'", "pipe2", "signalfd", "fcntl"}) {
    EXPECT_EQ(messages.count("plimsoll: " + std::string(what) + kInjectedText), 1U) << what;
  }
}

// Said, and in the response.
bool IsNotRecorded(const Outcome& outcome) {
  return outcome.err.find("the run is not recorded: ") != std::string::npos &&
         (outcome.out.empty() || At(ParseAnswer(outcome), "/record/error") != "missing");
}

TEST_F(RunnerFault, BehindTheCloneNeverDeniesThatTheGuestRan) {
  for (const Caller caller : {Caller::kRunner, Caller::kWorker}) {
    for (int call = 1;; ++call) {
      const Watched run = RunWithFault(caller, call);
      if (!run.hit) break;
      if (run.hit->before_clone || CannotFail(*run.hit)) continue;
      if (IsForMemoryOrThreads(run.hit->number)) continue;
      const std::string where = Describe(call, run);
      EXPECT_TRUE(run.outcome.status == 0 || run.outcome.status == kKilled ||
                  (run.outcome.status == kSetupFailed && run.hit->number == SYS_write) ||
                  (run.outcome.status == kSetupFailed && IsNotRecorded(run.outcome)))
          << where;
      if (run.outcome.out.empty()) continue;
      EXPECT_NE(At(ParseAnswer(run.outcome), "/ran"), "no") << where;
    }
  }
}

TEST_F(RunnerFault, OfInitWhileTheGuestRunsEndsTheRunAndNeverDeniesIt) {
  for (int call = 1;; ++call) {
    const Watched run = RunWithFault(Caller::kInit, call);
    if (!run.hit) break;
    const std::string where = Describe(call, run);
    EXPECT_TRUE(run.outcome.status == 0 || run.outcome.status == kKilled) << where;
    EXPECT_NE(At(ParseAnswer(run.outcome), "/ran"), "no") << where;
  }
}

TEST_F(RunnerFault, OfTheThreadForInputEndsTheRunInASentence) {
  std::set<std::string> messages;
  for (const Caller caller : {Caller::kRunner, Caller::kWorker}) {
    for (int call = 1;; ++call) {
      Command command = Script("cat", {"-i"});
      command.input = "some";
      const Watched run =
          RunWatched(std::move(command), {.caller = caller, .call = call, .error = kInjected});
      if (!run.hit) break;
      if (run.hit->before_clone || run.hit->number != SYS_clone3) continue;
      EXPECT_EQ(run.outcome.status == 0 ? kKilled : run.outcome.status, kKilled)
          << Describe(call, run);
      messages.insert(run.outcome.err);
    }
  }
  EXPECT_EQ(
      messages.count("plimsoll: the run was ended: a thread of the runner could not be started" +
                     std::string(kInjectedText) + "\n"),
      1U);
}

TEST_F(RunnerFault, ThatLosesOutputIsSaid) {
  Command command = Script("echo ran");
  command.prepare = [] { (void)::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); };
  EXPECT_EQ(RunCommand(command).err,
            "plimsoll: standard output: the rest of the guest's output is lost: "
            "No space left on device (ENOSPC)\n");
}

struct Killing {
  Caller at;
  FaultKind kind;
};

// With --writable-root, for which a runner of root's has one more helper process.
TEST_F(RunnerFault, KillAtAnyCallLeavesNothing) {
  const auto before = ListTree(Folder().Path());
  for (const Killing& killing : {Killing{Caller::kRunner, FaultKind::kKillRunner},
                                 Killing{Caller::kWorker, FaultKind::kKillRunner},
                                 Killing{Caller::kWorker, FaultKind::kKillWorker}}) {
    for (int call = 1;; ++call) {
      const Watched run = RunWatched(Script("echo ran", {"--writable-root"}),
                                     {.caller = killing.at, .call = call, .kind = killing.kind});
      if (!run.hit) break;
      EXPECT_FALSE(run.guest_started && run.outcome.status == kSetupFailed) << Describe(call, run);
      EXPECT_EQ(ListTree(Folder().Path()), before);
    }
  }
}

}  // namespace
}  // namespace plimsoll
