// The exit status of `plimsoll exec`, and what the JSON response says apart from it.

#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;

class ExitStatus : public PlimsollTest {};

TEST_F(ExitStatus, OfTheGuestIsPassedOn) {
  for (const int code : {0, 1, 42, 124, 125, 126, 127, 128, 137, 255}) {
    EXPECT_EQ(RunScript("exit " + std::to_string(code)).status, code);
  }
}

TEST_F(ExitStatus, OriginTellsAGuestThatReturnsOurOwnNumbersFromUs) {
  for (const int code : {0, 124, 125, 126, 127, 255}) {
    const Outcome outcome = RunScript("exit " + std::to_string(code), {"--json"});
    const auto answer = ParseAnswer(outcome);
    EXPECT_EQ(outcome.status, code);
    EXPECT_EQ(At(answer, "/origin"), "guest") << code;
    EXPECT_EQ(At(answer, "/ran"), "yes") << code;
    EXPECT_EQ(At(answer, "/refusal"), "null") << code;
    EXPECT_EQ(At(answer, "/project/outcome"), "completed") << code;
    EXPECT_EQ(At(answer, "/project/steps/0/exit_code"), std::to_string(code));
    EXPECT_EQ(At(answer, "/project/steps/0/signal"), "0") << code;
    EXPECT_EQ(At(answer, "/project/steps/0/timed_out"), "false") << code;
    EXPECT_EQ(At(answer, "/project/steps/0/oom"), "false") << code;
  }
}

TEST_F(ExitStatus, OfASignalIs128AndItsNumber) {
  const std::vector<std::pair<std::string, int>> signals = {
      {"HUP", 1}, {"INT", 2}, {"ABRT", 6}, {"KILL", 9}, {"SEGV", 11}, {"PIPE", 13}, {"TERM", 15}};
  for (const auto& [name, number] : signals) {
    EXPECT_EQ(RunScript("kill -" + name + " $$").status, 128 + number) << name;
  }
}

TEST_F(ExitStatus, SignalStandsApartFromTheCode) {
  const Outcome outcome = RunScript("kill -9 $$", {"--json"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(outcome.status, 137);
  EXPECT_EQ(At(answer, "/origin"), "guest");
  EXPECT_EQ(At(answer, "/project/steps/0/exit_code"), "137");
  EXPECT_EQ(At(answer, "/project/steps/0/signal"), "9");
  EXPECT_EQ(At(answer, "/project/steps/0/timed_out"), "false");
  EXPECT_EQ(At(answer, "/project/steps/0/oom"), "false");
}

struct NotExecuted {
  std::string command;
  int status;
  std::string message;
};

TEST_F(ExitStatus, Is127WhenTheCommandIsNotFoundAnd126WhenItCannotBeRun) {
  Folder().WriteFile("workspace/plain", "no program\n", 0644);
  Folder().WriteFile("workspace/garbage", "no program\n", 0755);
  Folder().WriteFile("workspace/orphan", "#!/no/such/interpreter\n", 0755);
  const std::vector<NotExecuted> cases = {
      {"/nonexistent", 127, "execute '/nonexistent': No such file or directory (ENOENT)"},
      {"/bin/sh/x", 127, "execute '/bin/sh/x': Not a directory (ENOTDIR)"},
      {"nosuch", 127, "'nosuch' is in no directory of the guest's PATH"},
      {"", 127, "'' is in no directory of the guest's PATH"},
      {"/etc", 126, "execute '/etc': Permission denied (EACCES)"},
      {"/src/plain", 126, "execute '/src/plain': Permission denied (EACCES)"},
      {"/src/garbage", 126, "execute '/src/garbage': Exec format error (ENOEXEC)"},
      {"/src/orphan", 127, "execute '/src/orphan': No such file or directory (ENOENT)"},
  };
  for (const NotExecuted& given : cases) {
    const Outcome outcome = RunExec({"-v", Workspace() + ":/src", "--", given.command});
    EXPECT_EQ(outcome.status, given.status) << given.command;
    EXPECT_EQ(outcome.out, "") << given.command;
    EXPECT_EQ(outcome.err.substr(0, outcome.err.find('\n')), "plimsoll: " + given.message);
  }
}

TEST_F(ExitStatus, OfACommandThatCouldNotBeRunSaysThatNothingRan) {
  const Outcome outcome = RunExec({"--json", "--", "/nonexistent"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(outcome.status, 127);
  EXPECT_EQ(At(answer, "/origin"), "runner");
  EXPECT_EQ(At(answer, "/ran"), "no");
  EXPECT_EQ(At(answer, "/project/outcome"), "setup_failed");
  EXPECT_EQ(At(answer, "/project/steps"), "0");
}

TEST_F(ExitStatus, OfARefusalIs125AndNamesItsReason) {
  const Outcome outcome = RunExec({"--json", "--memory", "12 potatoes", "--", "true"});
  EXPECT_EQ(outcome.status, 125);
  const Outcome unknown = RunExec({"--json", "--image", "no-such-image", "--", "true"});
  const auto answer = ParseAnswer(unknown);
  EXPECT_EQ(unknown.status, 125);
  EXPECT_EQ(At(answer, "/origin"), "runner");
  EXPECT_EQ(At(answer, "/ran"), "no");
  EXPECT_EQ(At(answer, "/refusal/reason"), "environment");
  EXPECT_EQ(At(answer, "/project/steps"), "0");
}

TEST_F(ExitStatus, OfAnUnknownFlagOrImageIs125) {
  EXPECT_EQ(RunExec({"--no-such-flag", "--", "true"}).status, 125);
  EXPECT_EQ(RunExec({"--image", "no-such-image", "--", "true"}).status, 125);
  EXPECT_EQ(RunExec({"--image", "bad image", "--", "true"}).status, 125);
}

}  // namespace
}  // namespace plimsoll
