// The flags of exec: each bad value is refused by flag and value before anything runs, and flags
// end where they should.

#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Command;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::RunCommand;
using testing_support::Words;

class Flags : public PlimsollTest {
 protected:
  static std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }
};

struct BadValue {
  std::string flag;
  std::string value;
  std::string complaint;  // behind "plimsoll: "
};

std::vector<BadValue> BadValues() {
  const std::string time =
      ": expected a duration with ms, s, m, h or d, such as '30s'; a bare number is seconds";
  const std::string bytes = ": expected a number of bytes with K, M, G or T, such as '512M'";
  const std::string volume = ": expected SRC:DST, SRC:DST:ro or SRC:DST:rw";
  return {
      {"--timeout", "x", "--timeout 'x'" + time},
      {"--timeout", "-1", "--timeout '-1'" + time},
      {"--timeout", "1e3", "--timeout '1e3'" + time},
      {"--timeout", "400d", "--timeout '400d'" + time},
      {"--timeout", "0", "--timeout '0': expected more than 0"},
      {"--kill-after", "soon", "--kill-after 'soon'" + time},
      {"--cpu-time", "0s", "--cpu-time '0s': expected more than 0"},
      {"--cpu-time", "1 s", "--cpu-time '1 s'" + time},
      {"--memory", "12 potatoes", "--memory '12 potatoes'" + bytes},
      {"--memory", "1K", "--memory '1K': expected at least 64K"},
      {"--memory", "99999999T", "--memory '99999999T'" + bytes},
      {"--pids-limit", "0", "--pids-limit '0': expected a number from 1 to 4194304"},
      {"--pids-limit", "1.5", "--pids-limit '1.5': expected a number from 1 to 4194304"},
      {"--cpus", "0", "--cpus '0': expected a number of processors, such as '1.5'"},
      {"--cpus", "nan", "--cpus 'nan': expected a number of processors, such as '1.5'"},
      {"--tmpfs-size", "1", "--tmpfs-size '1': expected at least 64K"},
      {"--output-limit", "-1", "--output-limit '-1'" + bytes},
      {"--floor", "moon", "--floor 'moon': expected process, container, kernel or vm"},
      {"--trace-id", "a/b", "--trace-id 'a/b': expected 1 to 64 of A-Z a-z 0-9 . _ : -"},
      {"--network", "host", "--network 'host': expected none"},
      {"--user", ":5", "--user ':5': expected USER or USER:GROUP"},
      {"--user", "a:b:c", "--user 'a:b:c': expected USER or USER:GROUP"},
      {"--host-user", "0", "--host-user '0': expected UID or UID:GID, numbers above 0"},
      {"--host-user", "5:0", "--host-user '5:0': expected UID or UID:GID, numbers above 0"},
      {"--host-user", "root", "--host-user 'root': expected UID or UID:GID, numbers above 0"},
      {"-v", "x", "--volume 'x'" + volume},
      {"-v", ":/x", "--volume ':/x'" + volume},
      {"-v", "x:y", "--volume 'x:y'" + volume},
      {"-v", "/etc:/x:rx", "--volume '/etc:/x:rx'" + volume},
      {"-e", "=x", "--env '=x': expected NAME=VALUE or NAME"},
      {"-w", "relative", "--workdir 'relative' is not an absolute path"},
      {"--memory", "\x1b[2J\xff", "--memory '\\x1b[2J\\xff'" + bytes},
  };
}

TEST_F(Flags, WithABadValueNameBothAndRunNothing) {
  for (const BadValue& bad : BadValues()) {
    const Outcome outcome = RunScript("echo ran", {bad.flag, bad.value});
    EXPECT_EQ(outcome.status, 125) << bad.flag << " " << bad.value;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(FirstLine(outcome.err), "plimsoll: " + bad.complaint);
  }
}

TEST_F(Flags, WithAnEmptyValueAreRefused) {
  for (const std::string flag :
       {"--memory", "--timeout", "--store", "--image", "--user", "--workdir", "--trace-id",
        "--network", "--env", "--volume", "--env-file"}) {
    const Outcome outcome = RunScript("echo ran", {flag, ""});
    EXPECT_EQ(outcome.status, 125) << flag;
    EXPECT_NE(outcome.err.find(flag), std::string::npos) << outcome.err;
  }
}

TEST_F(Flags, ThatAreUnknownGetASuggestion) {
  const std::vector<std::pair<std::string, std::string>> typos = {{"--memroy", "--memory"},
                                                                  {"--jsno", "--json"},
                                                                  {"--time-out", "--timeout"},
                                                                  {"--volumes", "--volume"},
                                                                  {"--pid-limit", "--pids-limit"}};
  for (const auto& [typed, meant] : typos) {
    const Outcome outcome = RunScript("echo ran", {typed, "5"});
    EXPECT_EQ(outcome.status, 125);
    EXPECT_EQ(outcome.err, "plimsoll: unknown flag '" + typed +
                               "'\nplimsoll: hint: did you mean '" + meant +
                               "'? 'plimsoll exec -h' lists the flags\n");
  }
  EXPECT_EQ(RunScript("echo ran", {"--quite-different"}).err,
            "plimsoll: unknown flag '--quite-different'\nplimsoll: hint: 'plimsoll exec -h' lists "
            "the flags\n");
  EXPECT_EQ(FirstLine(RunScript("echo ran", {"-z"}).err), "plimsoll: unknown flag '-z'");
  EXPECT_EQ(FirstLine(RunScript("echo ran", {"-iz"}).err), "plimsoll: unknown flag '-z'");
}

TEST_F(Flags, OfTheProgramGetASuggestionToo) {
  const Outcome outcome = RunCommand(Plimsoll({"exce", "--", "true"}));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(FirstLine(outcome.err), "plimsoll: unknown command 'exce'");
  EXPECT_NE(outcome.err.find("did you mean 'exec'?"), std::string::npos);
  EXPECT_EQ(RunCommand(Plimsoll({})).status, 125);
}

TEST_F(Flags, WithoutTheirValueSayIt) {
  const Outcome outcome = RunExec({"--memory"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(FirstLine(outcome.err), "plimsoll: flag '--memory' needs a value");
}

TEST_F(Flags, EndAtTheFirstOperand) {
  EXPECT_EQ(RunExec({"echo", "--json", "-h", "--", "-v"}).out, "--json -h -- -v\n");
  EXPECT_EQ(RunExec({"-q", "echo", "-q"}).out, "-q\n");
  EXPECT_EQ(RunExec({"--", "echo", "--", "x"}).out, "-- x\n");
  EXPECT_EQ(RunExec({"-e", "A=1", "--", "sh", "-c", "echo $A"}).out, "1\n");
  EXPECT_EQ(RunExec({"--", "--json"}).status, 127);
}

TEST_F(Flags, MayBeJoinedWithTheirValues) {
  EXPECT_EQ(RunExec({"-q", "--memory=128M", "--", "echo", "ok"}).out, "ok\n");
  EXPECT_EQ(RunExec({"-qi", "-v.:/src", "-w/src", "--", "pwd"}).out, "/src\n");
}

TEST_F(Flags, HelpEndsWithZeroAndRunsNothing) {
  for (const Words& words : {Words{"-h"}, Words{"--help"}, Words{"--json", "-h", "--", "echo"}}) {
    const Outcome outcome = RunExec(words);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.out.find("Usage: plimsoll exec [FLAGS] [--] COMMAND [ARG...]"),
              std::string::npos);
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(Flags, NetworkNoneDoesNothing) {
  EXPECT_EQ(RunScript("exit 3", {"--network", "none"}).status, 3);
}

TEST_F(Flags, FloorRefusesAMachineThatIsWeaker) {
  EXPECT_EQ(RunScript("exit 3", {"--floor", "process"}).status, 3);
  EXPECT_EQ(RunScript("exit 3", {"--floor", "container"}).status, 3);
  for (const std::string tier : {"kernel", "vm"}) {
    const Outcome outcome = RunScript("echo ran", {"--floor", tier, "--json"});
    const auto answer = ParseAnswer(outcome);
    EXPECT_EQ(outcome.status, 125);
    EXPECT_EQ(At(answer, "/ran"), "no");
    EXPECT_EQ(At(answer, "/refusal/reason"), "isolation");
  }
}

TEST_F(Flags, TraceIdStandsInTheResponse) {
  const std::string id = "A.z_0:9-" + std::string(56, 'x');
  EXPECT_EQ(At(ParseAnswer(RunScript("true", {"--json", "--trace-id", id})), "/trace_id"), id);
  EXPECT_EQ(RunScript("true", {"--trace-id", id + "x"}).status, 125);
}

TEST_F(Flags, WritableRootIsThrownAway) {
  const Outcome outcome =
      RunScript("echo x > /new && echo y > /etc/passwd && rm /bin/ls && cat /new /etc/passwd",
                {"--writable-root"});
  EXPECT_EQ(outcome.out, "x\ny\n") << outcome.err;
  EXPECT_EQ(RunScript("ls /new 2>/dev/null; head -n 1 /etc/passwd").out,
            "root:x:0:0:root:/root:/bin/sh\n");
  EXPECT_NE(RunScript("echo x > /new").status, 0);
  EXPECT_NE(
      RunScript("head -c 20000000 /dev/zero > /big", {"--writable-root", "--tmpfs-size", "8M"})
          .status,
      0);
}

TEST_F(Flags, QuietLeavesErrorsOnly) {
  const Outcome quiet = RunScript("exit 3", {"-q", "--cpu-time", "9"});
  EXPECT_EQ(quiet.status, 3);
  EXPECT_EQ(quiet.err, "");
  EXPECT_NE(RunScript("echo ran", {"-q", "--memory", "x"}).err, "");
}

TEST_F(Flags, TheResponseNamesPlanPolicyAndImage) {
  const auto answer = ParseAnswer(RunScript("true", {"--json"}));
  EXPECT_EQ(At(answer, "/confinement/plan").substr(0, 7), "sha256:");
  EXPECT_EQ(At(answer, "/confinement/program").substr(0, 7), "sha256:");
  EXPECT_EQ(At(answer, "/policy").substr(0, 15), "seccomp:sha256:");
  EXPECT_EQ(At(answer, "/environment").substr(0, 17), "oci-image:sha256:");
  EXPECT_EQ(At(answer, "/project/steps/0/command"), "'sh' '-c' 'true'");
}

TEST_F(Flags, OfPlanAreThoseOfExecAndRunNothing) {
  const Outcome text = RunCommand(Plimsoll({"plan", "--", "sh", "-c", "echo ran"}));
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(text.out.substr(0, 7), "launch\n");
  EXPECT_EQ(text.out.find("\nran"), std::string::npos);
  const auto json = ParseAnswer(RunCommand(Plimsoll({"plan", "--json", "--", "sh", "-c", "true"})));
  EXPECT_EQ(At(json, "/steps/0/kind"), "namespaces");
}

TEST_F(Flags, JsonGivesOneDocumentWhenACommandFails) {
  const std::vector<Words> failures = {{"plan", "--json", "--image", "nosuch", "--", "true"},
                                       {"plan", "--json", "--memory", "x", "--", "true"},
                                       {"doctor", "--json", "--nosuch"},
                                       {"doctor", "--json", "operand"}};
  for (const Words& words : failures) {
    const Outcome outcome = RunCommand(Plimsoll(words));
    const std::string message = At(ParseAnswer(outcome), "/refusal/message");
    EXPECT_EQ(outcome.status, 125) << message;
    EXPECT_EQ(FirstLine(outcome.err), "plimsoll: " + message);
  }
}

TEST_F(Flags, WithOneValueAreRefusedTheSecondTime) {
  const Outcome outcome = RunScript("echo ran", {"--timeout", "3s", "--timeout", "4s"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(FirstLine(outcome.err), "plimsoll: flag '--timeout' was given twice: '3s' and '4s'");
}

TEST_F(Flags, OfPlanGiveThePlanThatExecCarriesOut) {
  const auto plan =
      ParseAnswer(RunCommand(Plimsoll({"plan", "--json", "-v", ".:/src", "--", "true"})));
  const auto run = ParseAnswer(RunExec({"--json", "-v", ".:/src", "--", "true"}));
  if (testing_support::IsRoot()) return;  // the runner of root passes its mounts by descriptor
  EXPECT_EQ(At(plan, "/digest"), At(run, "/confinement/plan"));
}

}  // namespace
}  // namespace plimsoll
