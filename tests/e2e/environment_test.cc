// The guest's environment, and plimsoll's own variables.

#include <algorithm>

#include "base/text.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Command;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::RunCommand;
using testing_support::SetVariable;
using testing_support::Words;

class Environment : public PlimsollTest {
 protected:
  // What env prints, sorted.
  static std::vector<std::string> Variables(Command command) {
    const Outcome outcome = RunCommand(std::move(command));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> lines;
    for (const std::string_view line : Split(outcome.out, '\n')) {
      if (!line.empty()) lines.emplace_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  // "$A|$B" as a script sees them.
  std::string AAndB(Words flags) const {
    return RunScript("printf '%s|%s' \"$A\" \"$B\"", flags).out;
  }
};

TEST_F(Environment, IsShortAndFixed) {
  Command command = Exec({"--", "env"});
  for (const std::string name :
       {"SECRET", "LD_PRELOAD", "PLIMSOLL_SECRET", "SSH_AUTH_SOCK", "LANG"}) {
    SetVariable(command, name, name == "LD_PRELOAD" ? "" : "1");
  }
  EXPECT_EQ(Variables(std::move(command)),
            (std::vector<std::string>{
                "HOME=/work", "HOSTNAME=plimsoll",
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "PWD=/work"}));
}

TEST_F(Environment, TakesWhatTheFlagsSet) {
  EXPECT_EQ(AAndB({"-e", "A=1", "--env", "B=two words"}), "1|two words");
  EXPECT_EQ(AAndB({"-e", "A=1", "-e", "A=2"}), "2|");
  EXPECT_EQ(AAndB({"-e", "A=", "-e", "B=x=y"}), "|x=y");
  EXPECT_EQ(AAndB({"-eA=1", "--env=B=2"}), "1|2");
  EXPECT_EQ(AAndB({"-e", "A=a\nb\t\xff"}), "a\nb\t\xff|");
}

TEST_F(Environment, TakesANamedVariableOfTheCaller) {
  Command command = Script("printf '%s|%s' \"$A\" \"${B-unset}\"", {"-e", "A", "-e", "B"});
  SetVariable(command, "A", "from the caller");
  EXPECT_EQ(RunCommand(std::move(command)).out, "from the caller|unset");
}

TEST_F(Environment, TakesAFileOfVariablesAndFlagsAfterIt) {
  Folder().WriteFile("workspace/file", "# comment\n\nA=file\nB=with 'quotes' and #\nC\n");
  EXPECT_EQ(AAndB({"--env-file", "file"}), "file|with 'quotes' and #");
  EXPECT_EQ(AAndB({"-e", "A=flag", "--env-file", "file"}), "flag|with 'quotes' and #");
  Folder().WriteFile("workspace/second", "B=second");
  EXPECT_EQ(AAndB({"--env-file", "file", "--env-file", "second"}), "file|second");
}

TEST_F(Environment, RefusesAFileThatIsMissingOrTooLarge) {
  EXPECT_EQ(RunScript("echo ran", {"--env-file", "nowhere"}).err,
            "plimsoll: --env-file: open 'nowhere': No such file or directory (ENOENT)\n");
  Folder().WriteFile("workspace/large", std::string(2'000'000, '#'));
  const Outcome outcome = RunScript("echo ran", {"--env-file", "large"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.err, "plimsoll: --env-file: 'large' is larger than 1048576 bytes\n");
}

TEST_F(Environment, ItsPathIsWhereCommandsAreLookedFor) {
  Folder().WriteFile("workspace/tool", "#!/bin/sh\necho found\n", 0755);
  EXPECT_EQ(
      RunExec({"-v", ".:/opt/tools", "-e", "PATH=/nowhere:/opt/tools:/bin", "--", "tool"}).out,
      "found\n");
  EXPECT_EQ(RunExec({"-e", "PATH=/nowhere", "--", "sh"}).status, 127);
}

TEST_F(Environment, PwdIsTheWorkingDirectory) {
  EXPECT_EQ(RunExec({"-w", "/tmp", "--", "sh", "-c", "echo $PWD; pwd -P"}).out, "/tmp\n/tmp\n");
}

TEST_F(Environment, OfTheCallerSetsFlagsUnlessTheyAreGiven) {
  Command command = Script("sleep 9", {"--json"});
  SetVariable(command, "PLIMSOLL_TIMEOUT", "200ms");
  SetVariable(command, "PLIMSOLL_TRACE_ID", "abc");
  const auto answer = ParseAnswer(RunCommand(std::move(command)));
  EXPECT_EQ(At(answer, "/project/steps/0/timed_out"), "true");
  EXPECT_EQ(At(answer, "/trace_id"), "abc");

  Command given = Script("true", {"--json", "--trace-id", "flag"});
  SetVariable(given, "PLIMSOLL_TRACE_ID", "variable");
  EXPECT_EQ(At(ParseAnswer(RunCommand(std::move(given))), "/trace_id"), "flag");

  Command store = Script("exit 3");
  SetVariable(store, "PLIMSOLL_STORE", Folder() / "other");
  EXPECT_EQ(RunCommand(std::move(store)).status, 3);
  EXPECT_EQ(::access((Folder() / "other/version").c_str(), F_OK), 0);
}

TEST_F(Environment, OfTheCallerIsRefusedAsAFlagIs) {
  Command command = Script("echo ran");
  SetVariable(command, "PLIMSOLL_MEMORY", "12 potatoes");
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("--memory '12 potatoes'"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace plimsoll
