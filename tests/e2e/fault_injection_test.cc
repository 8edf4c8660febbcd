// Every system call that sets a sandbox up fails once, and the runner is killed at each: nothing of
// the guest runs, the message names the step of the plan, nothing is left behind.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <set>

#include "base/text.h"
#include "init/wire.h"
#include "support/fail_call.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Call;
using testing_support::Caller;
using testing_support::Command;
using testing_support::Fault;
using testing_support::FaultKind;
using testing_support::IsRoot;
using testing_support::ListTree;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::RunCommand;
using testing_support::RunWatched;
using testing_support::Watched;
using testing_support::Words;

constexpr int kInjected = EIO;  // which nothing of ours takes for anything but a failure
constexpr const char* kInjectedText = ": Input/output error (EIO)";
constexpr int kSetupFailed = 125;
constexpr int kNotExecutable = 126;
constexpr int kKilled = 128 + 9;

// A request whose plan has steps that others lack. "DATA" stands for a host folder with a .git in
// it.
struct Request {
  std::string name;
  Words flags;
  Words command;
};

void PrintTo(const Request& request, std::ostream* out) {
  *out << request.name;
}

std::vector<Request> Requests() {
  return {
      {"Plain", {}, {"sh", "-c", "echo ran"}},
      {"WritableRoot", {"--writable-root"}, {"/bin/sh", "-c", "echo ran"}},
      {"NewMountPoint", {"-v", "DATA:/opt/new/place"}, {"/bin/sh", "-c", "echo ran"}},
      {"UnknownUser", {"-u", "4242"}, {"/bin/sh", "-c", "echo ran"}},
      {"RepositoryAndLimits",
       {"-v", "DATA:/src:rw", "--cpu-time", "60", "--pids-limit", "64"},
       {"/bin/sh", "-c", "echo ran"}},
  };
}

// A step as `plimsoll plan --json` prints it.
struct Step {
  std::string kind;
  std::string message;  // how a failure of it is reported, up to the errno
};

class FaultInjection : public PlimsollTest, public ::testing::WithParamInterface<Request> {
 protected:
  FaultInjection() : data_(Folder().MakeDirectory("data")) {
    Folder().MakeDirectory("data/.git");
    EXPECT_EQ(RunScript("true").status, 0);  // makes the store
    before_ = Surroundings();
  }

  Command CommandFor(const std::string& subcommand, const Words& more = {}) const {
    Words words = {subcommand, "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    if (IsRoot()) words.insert(words.end(), {"--host-user", "65534:65534"});
    for (std::string flag : GetParam().flags) {
      if (flag.starts_with("DATA")) flag.replace(0, 4, data_);
      words.push_back(std::move(flag));
    }
    words.push_back("--");
    words.insert(words.end(), GetParam().command.begin(), GetParam().command.end());
    return Plimsoll(words);
  }

  std::vector<Step> PlannedSteps() const {
    const auto plan = ParseAnswer(RunCommand(CommandFor("plan", {"--json"})));
    const auto count = ParseUint(At(plan, "/steps")).value_or(0);
    std::vector<Step> steps;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string step = "/steps/" + std::to_string(i);
      const std::string kind = At(plan, step + "/kind");
      steps.push_back({.kind = kind,
                       .message = "plimsoll: sandbox step " + std::to_string(i) + " of " +
                                  std::to_string(count) + " (" + kind + "), " +
                                  At(plan, step + "/description")});
    }
    return steps;
  }

  // No file and no mount more than before; processes are RunWatched's concern.
  void ExpectNothingLeft(const Call& call) const {
    EXPECT_EQ(Surroundings(), before_) << "behind call " << call.number;
  }

 private:
  std::vector<std::string> Surroundings() const {
    std::vector<std::string> lines = ListTree(Folder().Path());
    const std::vector<std::string> store = ListTree(StorePath());
    lines.insert(lines.end(), store.begin(), store.end());
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);)
      lines.push_back(line);
    return lines;
  }

  std::string data_;
  std::vector<std::string> before_;
};

std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// Index of the step that the message names; the number of steps when it names none of the plan's.
std::size_t StepNamed(const std::string& message, const std::vector<Step>& steps) {
  std::size_t i = 0;
  while (i < steps.size() && !message.starts_with(steps[i].message + ": "))
    ++i;
  return i;
}

// Calls whose failure changes nothing for the guest, or that cannot fail with the arguments they
// have.
bool IsHarmless(const Call& call) {
  switch (call.number) {
    case SYS_close:  // the descriptor is gone either way (close(2)), and kCloseDescriptors comes
                     // last
    case SYS_umask:  // has no failure (umask(2))
      return true;
    case SYS_prctl:  // fails only for a name outside the memory (PR_SET_NAME(2const))
      return call.arguments[0] == PR_SET_NAME;
    case SYS_rt_sigprocmask:  // of init, which starts with that very mask
      return true;
    case SYS_statx:  // asks whether a program that was not executed is there, for the message
      return static_cast<int>(call.arguments[0]) == AT_FDCWD;
    default:
      return false;
  }
}

// Init reads its plan before there is a step to name.
bool ReadsPlan(const Call& call) {
  return (call.number == SYS_statx && call.arguments[0] == init::kPlanFd) ||
         (call.number == SYS_mmap && call.arguments[4] == init::kPlanFd);
}

TEST_P(FaultInjection, EveryFailedCallOfTheSetUpIs125AndNamesItsStep) {
  const std::vector<Step> steps = PlannedSteps();
  std::set<std::string> missing;
  for (const Step& step : steps)
    missing.insert(step.message);
  std::size_t reached = 0;
  for (int call = 1;; ++call) {
    const Watched run = RunWatched(CommandFor("exec"), {.call = call, .error = kInjected});
    if (!run.hit) break;
    ExpectNothingLeft(*run.hit);
    const std::string message = FirstLine(run.outcome.err);
    const std::string where = "call " + std::to_string(call) + ", number " +
                              std::to_string(run.hit->number) + ": " + message;
    if (run.outcome.status == 0) {
      EXPECT_TRUE(IsHarmless(*run.hit)) << where;
      EXPECT_EQ(run.outcome.out, "ran\n") << where;
      continue;
    }
    EXPECT_FALSE(run.guest_started) << where;
    EXPECT_EQ(run.outcome.out, "") << where;
    if (run.hit->number == SYS_execve) {
      EXPECT_EQ(run.outcome.status, kNotExecutable) << where;
      EXPECT_EQ(message, "plimsoll: execute '" + GetParam().command[0] + "'" + kInjectedText);
      continue;
    }
    EXPECT_EQ(run.outcome.status, kSetupFailed) << where;
    if (ReadsPlan(*run.hit)) {
      EXPECT_EQ(message, std::string("plimsoll: init could not read its plan") + kInjectedText);
      continue;
    }
    const std::size_t step = StepNamed(message, steps);
    ASSERT_LT(step, steps.size()) << where;
    // Init asks whether the runner is still there, and a question without an answer means no.
    EXPECT_EQ(message, steps[step].message + (run.hit->number == SYS_ppoll
                                                  ? std::string(": Broken pipe (EPIPE)")
                                                  : kInjectedText));
    // As the calls come in the order of the plan, so do the steps that they are reported as.
    EXPECT_GE(step, reached) << where;
    reached = step;
    missing.erase(steps[step].message);
  }
  // The clone itself is the runner's call, see below; the umask has no failure.
  for (const Step& step : steps) {
    EXPECT_EQ(missing.count(step.message),
              step.kind == "namespaces" || step.kind == "umask" ? 1U : 0U)
        << step.message;
  }
}

// A request of two steps: what is done between them fails once, and nothing follows that might not
// have the same wall.
class FaultBetweenSteps : public PlimsollTest {
 protected:
  FaultBetweenSteps() {
    EXPECT_EQ(RunScript("true").status, 0);  // makes the store
    Folder().WriteFile("request.json",
                       R"({"protocol":2,"project":{"steps":["echo one","echo two"]}})");
  }

  Watched RunWithFault(int call) const {
    return RunWatched(Plimsoll({"run", Folder() / "request.json"}),
                      {.caller = Caller::kBetween, .call = call, .error = kInjected});
  }

  // The kind in "step 2: sandbox step 60 of 73 (landlock-ruleset), ..."; empty for other messages.
  static std::string KindNamed(const std::string& message) {
    if (!message.starts_with("step 2: sandbox step ")) return {};
    const std::size_t open = message.find('(');
    return message.substr(open + 1, message.find(')') - open - 1);
  }
};

TEST_F(FaultBetweenSteps, EndsTheRunNamesItsStepAndNeverDeniesTheFirst) {
  std::set<std::string> named;
  for (int call = 1;; ++call) {
    const Watched run = RunWithFault(call);
    if (!run.hit) break;
    const std::string where =
        "call " + std::to_string(call) + ", number " + std::to_string(run.hit->number);
    const auto answer = ParseAnswer(run.outcome);
    EXPECT_NE(At(answer, "/ran"), "no") << where;
    const std::string second = At(answer, "/project/steps/1/stdout/text");
    if (run.outcome.status == 0) {
      EXPECT_EQ(second, "two\n") << where;
      EXPECT_EQ(At(answer, "/project/outcome_detail"), "") << where;
      continue;
    }
    EXPECT_TRUE(second.empty() || second == "missing" || run.outcome.status == kKilled)
        << where << ": " << second;
    EXPECT_TRUE(run.outcome.status == kSetupFailed || run.outcome.status == kNotExecutable ||
                run.outcome.status == kKilled)
        << where << ": " << run.outcome.status;
    named.insert(KindNamed(At(answer, "/refusal/message")));
    if (run.outcome.status != kSetupFailed) continue;
    EXPECT_EQ(At(answer, "/project/outcome"), "setup_failed") << where;
    EXPECT_EQ(At(answer, "/project/steps"), "1") << where;
    EXPECT_EQ(At(answer, "/project/steps/0/stdout/text"), "one\n") << where;
  }
  for (const char* kind : {"new-session", "working-directory", "landlock-ruleset", "landlock-rule",
                           "landlock-restrict", "close-descriptors", "seccomp", "exec"}) {
    EXPECT_EQ(named.count(kind), 1U) << kind;
  }
}

TEST_P(FaultInjection, RunnerKilledAtAnyCallOfTheSetUpLeavesNothingAndTheGuestNeverStarts) {
  for (int call = 1;; ++call) {
    const Watched run =
        RunWatched(CommandFor("exec"), {.call = call, .kind = FaultKind::kKillRunner});
    if (!run.hit) break;
    EXPECT_EQ(run.outcome.status, kKilled) << call;
    EXPECT_EQ(run.outcome.out, "") << call;
    EXPECT_FALSE(run.guest_started) << call;
    ExpectNothingLeft(*run.hit);
  }
}

INSTANTIATE_TEST_SUITE_P(Requests, FaultInjection, ::testing::ValuesIn(Requests()),
                         [](const auto& request) { return request.param.name; });

}  // namespace
}  // namespace plimsoll
