// `plimsoll run`: the steps of a request in one sandbox, and its one answer.

#include <csignal>

#include "support/run_fixture.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Command;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::Process;
using testing_support::RunCommand;
using testing_support::Words;
using std::chrono_literals::operator""s;

class Run : public RunTest {};

TEST_F(Run, AnswersWithOneDocumentAndNothingElse) {
  const Outcome outcome = RunSteps({"echo out; echo err >&2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1);
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/protocol"), "2");
  EXPECT_EQ(At(answer, "/ran"), "yes");
  EXPECT_EQ(At(answer, "/refusal"), "null");
  EXPECT_EQ(At(answer, "/project/outcome"), "completed");
  EXPECT_EQ(At(answer, "/project/outcome_detail"), "");
  EXPECT_EQ(At(answer, "/project/steps"), "1");
  EXPECT_EQ(At(answer, Step(0, "stdout/text")), "out\n");
  EXPECT_EQ(At(answer, Step(0, "stderr/text")), "err\n");
}

TEST_F(Run, ReadsARequestFromStandardInput) {
  Command command = Plimsoll({"run", "-"});
  command.input = Document({"cat; echo end"});
  const auto answer = ParseAnswer(RunCommand(command));
  EXPECT_EQ(At(answer, Step(0, "stdout/text")), "end\n");
}

TEST_F(Run, RunsStepsInOrderInOneSandboxAndKeepsTheirOutputApart) {
  const auto answer = ParseAnswer(RunSteps(
      {"echo one > a; echo 1; echo e1 >&2", "cat a; echo two >> a; echo e2 >&2", "cat a; pwd"}));
  EXPECT_EQ(At(answer, "/project/steps"), "3");
  EXPECT_EQ(At(answer, Step(0, "stdout/text")), "1\n");
  EXPECT_EQ(At(answer, Step(0, "stderr/text")), "e1\n");
  EXPECT_EQ(At(answer, Step(1, "stdout/text")), "one\n");
  EXPECT_EQ(At(answer, Step(1, "stderr/text")), "e2\n");
  EXPECT_EQ(At(answer, Step(2, "stdout/text")), "one\ntwo\n/work\n");
  EXPECT_EQ(At(answer, Step(2, "stderr/text")), "");
}

TEST_F(Run, RunsAVectorWithoutAShell) {
  const auto answer = ParseAnswer(RunCommand(
      RunOf(R"({"protocol":2,"project":{"steps":[{"argv":["echo","$HOME *","it's"]}]}})")));
  EXPECT_EQ(At(answer, Step(0, "stdout/text")), "$HOME * it's\n");
  EXPECT_EQ(At(answer, Step(0, "command")), R"('echo' '$HOME *' 'it'\''s')");
}

TEST_F(Run, TellsAShellCommandFromTheVectorThatItSpellsOut) {
  const auto answer = ParseAnswer(RunCommand(RunOf(
      R"({"protocol":2,"project":{"steps":["'echo' 'a'",{"argv":["echo","a"]},"echo a"]}})")));
  EXPECT_EQ(At(answer, Step(0, "command")), " 'echo' 'a'");
  EXPECT_EQ(At(answer, Step(1, "command")), "'echo' 'a'");
  EXPECT_EQ(At(answer, Step(2, "command")), "echo a");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(At(answer, Step(i, "stdout/text")), "a\n");
}

TEST_F(Run, StopsAtTheFirstStepThatFails) {
  const Outcome outcome = RunSteps({"true", "echo kept; exit 7", "echo never"});
  EXPECT_EQ(outcome.status, 7);
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/outcome"), "completed");
  EXPECT_EQ(At(answer, "/origin"), "guest");
  EXPECT_EQ(At(answer, "/project/steps"), "2");
  EXPECT_EQ(At(answer, Step(0, "exit_code")), "0");
  EXPECT_EQ(At(answer, Step(1, "exit_code")), "7");
  EXPECT_EQ(At(answer, Step(1, "stdout/text")), "kept\n");
}

TEST_F(Run, StopsAtASignal) {
  const Outcome outcome = RunSteps({"true", "kill -9 $$", "true"});
  EXPECT_EQ(outcome.status, 137);
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/steps"), "2");
  EXPECT_EQ(At(answer, Step(1, "signal")), "9");
  EXPECT_EQ(At(answer, Step(1, "exit_code")), "137");
}

TEST_F(Run, GivesAStepThatCannotBeExecutedItsStatus) {
  const Outcome outcome = RunCommand(
      RunOf(R"({"protocol":2,"project":{"steps":["true",{"argv":["no-such"]},"true"]}})"));
  EXPECT_EQ(outcome.status, 127);
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/origin"), "runner");
  EXPECT_EQ(At(answer, "/ran"), "yes");
  EXPECT_EQ(At(answer, "/project/outcome"), "completed");
  EXPECT_EQ(At(answer, "/project/outcome_detail"),
            "step 2: 'no-such' is in no directory of the guest's PATH");
  EXPECT_EQ(At(answer, "/project/steps"), "2");
  EXPECT_EQ(At(answer, Step(1, "exit_code")), "127");
  const Outcome found =
      RunCommand(RunOf(R"({"protocol":2,"project":{"steps":["true",{"argv":["/etc/passwd"]}]}})"));
  EXPECT_EQ(found.status, 126);
  EXPECT_EQ(At(ParseAnswer(found), Step(1, "exit_code")), "126");
}

TEST_F(Run, HasNoStepsWhenTheFirstCannotBeExecuted) {
  const Outcome outcome =
      RunCommand(RunOf(R"({"protocol":2,"project":{"steps":[{"argv":["no-such"]},"true"]}})"));
  EXPECT_EQ(outcome.status, 127);
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/ran"), "no");
  EXPECT_EQ(At(answer, "/project/outcome"), "setup_failed");
  EXPECT_EQ(At(answer, "/project/steps"), "0");
}

TEST_F(Run, EndsWhatAStepLeavesBehindBeforeTheNext) {
  const auto answer = ParseAnswer(
      RunSteps({"(trap '' TERM HUP; setsid sleep 999) & sleep 999 & ps | grep -c '[s]leep 999'",
                "ps | grep -c '[s]leep 999'; true"}));
  EXPECT_NE(At(answer, Step(0, "stdout/text")), "0\n");
  EXPECT_EQ(At(answer, Step(1, "stdout/text")), "0\n");
}

TEST_F(Run, KeepsWhatALeftoverWroteWithTheStepThatStartedIt) {
  const auto answer = ParseAnswer(RunSteps(
      {"(while :; do echo x; done) & head -c 10000 /dev/zero > f; exit 0", "echo mine", "true"}));
  EXPECT_EQ(At(answer, Step(1, "stdout/text")), "mine\n");
  EXPECT_EQ(At(answer, Step(2, "stdout/bytes")), "0");
}

TEST_F(Run, GivesEveryStepTheSameWall) {
  const std::string look =
      "ls /proc/self/fd | wc -l; grep -E '^(NoNewPrivs|Seccomp|CapEff|CapBnd)' /proc/self/status; "
      "touch /etc/x 2>&1; readlink /proc/self/ns/user; umask; cat /proc/self/limits";
  const auto answer = ParseAnswer(RunSteps({look + "; true", look + "; true", look + "; true"}));
  for (int i = 1; i < 3; ++i) {
    EXPECT_EQ(At(answer, Step(i, "stdout/text")), At(answer, Step(0, "stdout/text")));
  }
  EXPECT_NE(At(answer, Step(0, "stdout/text")).find("NoNewPrivs:\t1"), std::string::npos);
}

TEST_F(Run, EndsAtItsTimeoutInWhicheverStep) {
  const Outcome outcome = RunSteps({"echo one", "echo two; exec sleep 99", "echo three"},
                                   R"(,"limits":{"kill_after_ms":100})", R"(,"timeout_ms":500)");
  EXPECT_EQ(outcome.status, 124);
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/outcome"), "timed_out");
  EXPECT_EQ(At(answer, "/project/outcome_detail"), "step 2 exceeded its time budget");
  EXPECT_EQ(At(answer, "/project/steps"), "2");
  EXPECT_EQ(At(answer, Step(0, "timed_out")), "false");
  EXPECT_EQ(At(answer, Step(0, "stdout/text")), "one\n");
  EXPECT_EQ(At(answer, Step(1, "timed_out")), "true");
  EXPECT_EQ(At(answer, Step(1, "exit_code")), "124");
  EXPECT_EQ(At(answer, Step(1, "stdout/text")), "two\n");
}

TEST_F(Run, StartsNoStepBehindATimeoutThatOneHasTakenWell) {
  const Outcome outcome =
      RunSteps({"trap 'exit 0' TERM; while :; do sleep 0.05; done", "echo never"},
               R"(,"limits":{"kill_after_ms":30000})", R"(,"timeout_ms":300)");
  EXPECT_EQ(outcome.status, 124);
  EXPECT_LT(outcome.wall, 20s);
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/steps"), "1");
  EXPECT_EQ(At(answer, Step(0, "timed_out")), "true");
}

TEST_F(Run, PassesSignalsToTheStepThatRuns) {
  testing_support::Doorbell bell(Folder());
  const std::string mount = R"(,"mounts":[{"source":")" + (Folder() / "bell") +
                            R"(","destination":"/bell","writable":true}])";
  Words flags;
  if (testing_support::IsRoot()) flags = {"--host-user", "65534"};
  Process process(RunOf(
      Document({"true",
                "trap 'echo got; exit 4' USR1; " + bell.Ring() + "; while :; do sleep 0.05; done",
                "true"},
               mount),
      flags));
  bell.Wait();
  process.Signal(SIGUSR1);
  const Outcome outcome = process.Wait();
  EXPECT_EQ(outcome.status, 4);
  EXPECT_EQ(At(ParseAnswer(outcome), Step(1, "stdout/text")), "got\n");
}

TEST_F(Run, TakesTwentyStepsAndNotOneMore) {
  Words steps(20, "echo x >> f; wc -l < f");
  const Outcome outcome = RunSteps(steps);
  EXPECT_EQ(outcome.status, 0);
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/steps"), "20");
  EXPECT_EQ(At(answer, Step(19, "stdout/text")), "20\n");
  steps.push_back("true");
  const Outcome refused = RunSteps(steps);
  EXPECT_EQ(refused.status, 125);
  EXPECT_NE(refused.err.find("/project/steps: expected at most 20 items, found 21"),
            std::string::npos)
      << refused.err;
}

TEST_F(Run, CutsEachStreamAtTheLimitAndHashesAllOfIt) {
  const auto answer = ParseAnswer(
      RunSteps({"head -c 100000 /dev/zero", "printf '\\377'"}, R"(,"limits":{"output_bytes":10})"));
  EXPECT_EQ(At(answer, Step(0, "stdout/bytes")), "100000");
  EXPECT_EQ(At(answer, Step(0, "stdout/truncated")), "true");
  EXPECT_EQ(At(answer, Step(1, "stdout/base64")), "/w==");
  EXPECT_EQ(At(answer, Step(1, "stdout/truncated")), "false");
}

TEST_F(Run, PassesWhatTheRequestNames) {
  Folder().WriteFile("data", "here\n");
  const auto answer = ParseAnswer(
      RunSteps({"echo $A; id -u; pwd; cat /data; ulimit -a >/dev/null"},
               R"(,"env":{"A":"two words"},"workdir":"/tmp","user":"4242","mounts":[{"source":")" +
                   (Folder() / "data") + R"(","destination":"/data"}])",
               R"(,"trace_id":"t.1","minimum_isolation":"container")"));
  EXPECT_EQ(At(answer, Step(0, "stdout/text")), "two words\n4242\n/tmp\nhere\n");
  EXPECT_EQ(At(answer, "/trace_id"), "t.1");
}

TEST_F(Run, KeepsToItsSoftwareRule) {
  const auto identity = At(ParseAnswer(RunSteps({"true"})), "/software_identity");
  const auto rule = [](const std::string& mode, const std::string& allowed) {
    return R"(,"software_rule":{"mode":")" + mode + R"(","identities":[)" + allowed + "]}";
  };
  EXPECT_EQ(RunSteps({"true"}, "", rule("exact", '"' + identity + '"')).status, 0);
  EXPECT_EQ(RunSteps({"true"}, "", rule("approved", R"("x",")" + identity + '"')).status, 0);
  const Outcome refused = RunSteps({"true"}, "", rule("exact", R"("x")"));
  EXPECT_EQ(refused.status, 125);
  const auto answer = ParseAnswer(refused);
  EXPECT_EQ(At(answer, "/ran"), "no");
  EXPECT_EQ(At(answer, "/refusal/reason"), "environment");
  EXPECT_EQ(At(answer, "/refusal/message"),
            "the request's software rule does not allow the image " + identity);
  EXPECT_EQ(At(answer, "/project/steps"), "0");
}

struct Refusal {
  std::string document;
  std::string reason;
  std::string message;  // behind the name of the file, for what is wrong in it
};

TEST_F(Run, AnswersAHostileRequestWithARefusal) {
  const std::vector<Refusal> rows = {
      {"", "protocol", ": byte 0: "},
      {"[]", "protocol", ": byte 0: expected an object, found an array"},
      {"{\"protocol\":2", "protocol", ": byte 13: "},
      {Document({}), "protocol", ": byte 33: /project/steps: expected at least one step"},
      {Document({"true"}) + "x", "protocol", ": byte 43: "},
      {std::string(200, '['), "capacity", ": byte 16: "},
      {Document({"true"}, R"(,"files":[{"path":"../x","text":""}])"), "protocol",
       ": byte 59: /project/files/0/path: expected a relative path"},
      {Document({"true"}, R"(,"grant_profile":["openai"])"), "unsupported",
       "grant profile 'openai'"},
      {Document({"true"}, "", R"(,"minimum_isolation":"vm")"), "isolation", "--floor: "},
      {Document({"true"}, "", R"(,"image":"nobody-has-this")"), "environment", ""},
  };
  for (const Refusal& row : rows) {
    const Outcome outcome = RunCommand(RunOf(row.document));
    EXPECT_EQ(outcome.status, 125) << row.document;
    const auto answer = ParseAnswer(outcome);
    EXPECT_EQ(At(answer, "/ran"), "no") << row.document;
    EXPECT_EQ(At(answer, "/refusal/reason"), row.reason) << outcome.err;
    const std::string file = row.message.starts_with(":") ? Folder() / "request.json" : "";
    EXPECT_TRUE(At(answer, "/refusal/message").starts_with(file + row.message)) << outcome.err;
  }
}

TEST_F(Run, WantsOneDocument) {
  for (const Words& words : {Words{"run"}, Words{"run", "a", "b"}}) {
    const Outcome outcome = RunCommand(Plimsoll(words));
    EXPECT_EQ(outcome.status, 125);
    EXPECT_EQ(At(ParseAnswer(outcome), "/refusal/message"),
              "expected one REQUEST.json, or '-' for standard input");
  }
  const Outcome missing = RunCommand(Plimsoll({"run", "no-such.json"}));
  EXPECT_EQ(missing.status, 125);
  EXPECT_EQ(At(ParseAnswer(missing), "/refusal/reason"), "request");
}

}  // namespace
}  // namespace plimsoll
