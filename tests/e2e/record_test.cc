// The signed record: that every run leaves one, what it takes to sign it, and what verifies.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "base/text.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Command;
using testing_support::Doorbell;
using testing_support::IsRoot;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::Process;
using testing_support::ReadWholeFile;
using testing_support::RunCommand;
using testing_support::SetVariable;
using testing_support::Words;

class Record : public PlimsollTest {
 protected:
  std::string Bundle() const { return Folder() / "bundle.jsonl"; }
  std::string KeyFile() const { return Home() + "/.config/plimsoll/harness.key"; }

  // `plimsoll exec --record BUNDLE WORDS...`.
  Outcome RunRecorded(Words words) const {
    words.insert(words.begin(), {"--record", Bundle()});
    return RunExec(std::move(words));
  }
  Outcome Verify(Words flags = {}) const {
    flags.insert(flags.begin(), "verify");
    flags.push_back(Bundle());
    return RunCommand(Plimsoll(std::move(flags)));
  }
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    std::ifstream file(Bundle());
    for (std::string line; std::getline(file, line);)
      lines.push_back(line);
    return lines;
  }
  // The response in line `number`, from 0.
  json::Document Response(std::size_t number) const {
    const std::string line = Lines().at(number);
    const std::size_t begin = line.find("\"response\":") + 11;
    auto document = json::Parse(line.substr(begin, line.find(",\"plan\":", begin) - begin), "line");
    EXPECT_TRUE(document) << line;
    return *std::move(document);
  }
};

TEST_F(Record, IsLeftByEveryRunHoweverItEnds) {
  EXPECT_EQ(RunRecorded({"--", "true"}).status, 0);
  EXPECT_EQ(RunRecorded({"--", "sh", "-c", "echo out; echo err >&2; exit 3"}).status, 3);
  EXPECT_EQ(RunRecorded({"--timeout", "100ms", "--", "sleep", "99"}).status, 124);
  EXPECT_EQ(RunRecorded({"--", "sh", "-c", "kill -9 $$"}).status, 137);
  EXPECT_EQ(RunRecorded({"--", "no-such-command"}).status, 127);
  EXPECT_EQ(RunRecorded({"--image", "no-such-image", "--", "true"}).status, 125);
  EXPECT_EQ(RunRecorded({"--floor", "vm", "--", "true"}).status, 125);
  EXPECT_EQ(Verify({"--expect-lines", "7"}).status, 0) << Verify().err;
  EXPECT_EQ(At(Response(1), "/project/steps/0/stdout/text"), "out\n");
  EXPECT_EQ(At(Response(1), "/project/steps/0/exit_code"), "3");
  EXPECT_EQ(At(Response(2), "/project/steps/0/timed_out"), "true");
  EXPECT_EQ(At(Response(3), "/project/steps/0/signal"), "9");
  EXPECT_EQ(At(Response(5), "/ran"), "no");
  EXPECT_EQ(At(Response(5), "/refusal/reason"), "environment");
  EXPECT_EQ(At(Response(6), "/refusal/reason"), "isolation");
}

TEST_F(Record, IsLeftByDefaultInTheStore) {
  const std::string store = Folder() / "store";
  EXPECT_EQ(RunExec({"--store", store, "--", "true"}).status, 0);
  const Outcome outcome = RunCommand(Plimsoll({"verify", "--store", store, "--json"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(At(ParseAnswer(outcome), "/lines"), "1");
}

TEST_F(Record, IsNotLeftOfAWrongCommandLineOrWhenNotWanted) {
  EXPECT_EQ(RunRecorded({"--no-such-flag", "--", "true"}).status, 125);
  EXPECT_NE(::access(Bundle().c_str(), F_OK), 0);
  const std::string store = Folder() / "store";
  const auto answer =
      ParseAnswer(RunExec({"--store", store, "--no-record", "--json", "--", "true"}));
  EXPECT_EQ(At(answer, "/record"), "null");
  EXPECT_NE(::access((store + "/records.jsonl").c_str(), F_OK), 0);
  EXPECT_EQ(RunRecorded({"--no-record", "--", "true"}).status, 125);
}

TEST_F(Record, IsNamedInTheResponse) {
  const auto first = ParseAnswer(RunRecorded({"--json", "--", "true"}));
  const auto second = ParseAnswer(RunRecorded({"--json", "--", "true"}));
  EXPECT_EQ(At(first, "/record/line"), "1");
  EXPECT_EQ(At(second, "/record/line"), "2");
  EXPECT_EQ(At(second, "/record/path"), Bundle());
  EXPECT_EQ(Verify({"--expect-head", At(second, "/record/line_sha256")}).status, 0);
  EXPECT_EQ(Verify({"--expect-head", At(first, "/record/line_sha256")}).status, 1);
  EXPECT_EQ(At(ParseAnswer(Verify({"--json"})), "/keyid"), At(first, "/record/keyid"));
}

TEST_F(Record, OfManyRunsAtOnceHoldsAllOfThem) {
  constexpr std::size_t kRuns = 50;
  std::vector<std::unique_ptr<Process>> runs;
  for (std::size_t i = 0; i < kRuns; ++i)
    runs.push_back(std::make_unique<Process>(Exec({"--record", Bundle(), "--", "true"})));
  for (const auto& run : runs)
    EXPECT_EQ(run->Wait().status, 0);
  EXPECT_EQ(Verify({"--expect-lines", std::to_string(kRuns)}).status, 0) << Verify().err;
}

// With any byte of the run's output, command or plan changed: which part it is.
TEST_F(Record, WithAnyPartChangedDoesNotVerifyAndNamesThePart) {
  ASSERT_EQ(RunRecorded({"--", "echo", "hello"}).status, 0);
  const std::string line = Lines().at(0);
  struct Row {
    std::string from;
    std::string to;
    std::string named;
  };
  const std::vector<Row> rows = {
      {R"("text":"hello\n")", R"("text":"hallo\n")", "/project/steps/0/stdout"},
      {R"("argv":["echo")", R"("argv":["ecHo")", "request: digest"},
      {R"("exit_code":0)", R"("exit_code":1)", "response: digest"},
      {R"("cpu_ms":)", R"("cpu_ms":1)", "response: bytes"},
      {R"("writable_root":false)", R"("writable_root":true)", "request: bytes"},
      {R"("environment":"oci-image:)", R"("environment":"oci-imagE:)", "response: /environment"},
      {R"("policy":"seccomp:)", R"("policy":"seccomP:)", "response: /policy"},
      {"mount a tmpfs", "mount a tmpFs", "plan: bytes"},
      {R"("payload":"ey)", R"("payload":"eX)", "envelope: the signature is wrong"},
  };
  for (const Row& row : rows) {
    std::string changed = line;
    const std::size_t at = changed.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    changed.replace(at, row.from.size(), row.to);
    Folder().WriteFile("bundle.jsonl", changed + "\n");
    const Outcome outcome = Verify();
    EXPECT_EQ(outcome.status, 1) << row.from;
    EXPECT_NE(outcome.err.find("line 1: "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(row.named), std::string::npos) << outcome.err;
  }
}

TEST_F(Record, OfARunThatWasKilledIsNone) {
  Process run(Script("echo up; sleep 99", {"--record", Bundle()}));
  run.ReadUntil("up");
  run.Signal(SIGKILL);
  (void)run.Wait();
  EXPECT_EQ(Lines().size(), 0U);
  EXPECT_EQ(RunRecorded({"--", "true"}).status, 0);
  EXPECT_EQ(Verify({"--expect-lines", "1"}).status, 0);
}

TEST_F(Record, GoesOnBehindALineThatAKilledRunLeftTorn) {
  ASSERT_EQ(RunRecorded({"--", "true"}).status, 0);
  const std::string whole = ReadWholeFile(Bundle());
  Folder().WriteFile("bundle.jsonl", whole + R"({"request":{"protocol":2)", 0600);
  EXPECT_NE(Verify().err.find("line 2: the last line is cut short"), std::string::npos);
  const Outcome outcome = RunRecorded({"--", "true"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("cut off 24 bytes at the end of"), std::string::npos) << outcome.err;
  EXPECT_EQ(Verify({"--expect-lines", "2"}).status, 0);
}

// A limit on file sizes stands for a full disk. It counts for the plan and init, too, which are
// smaller than this bundle.
TEST_F(Record, ThatDoesNotFitOnTheDiskIsAFailureThatSaysThatTheGuestRan) {
  ASSERT_EQ(RunRecorded({"--", "seq", "50000"}).status, 0);
  const std::string before = ReadWholeFile(Bundle());
  Command command = Exec({"--record", Bundle(), "--json", "--", "echo", "hello"});
  command.prepare = [&before] {
    const struct rlimit limit = {before.size() + 1000, before.size() + 1000};
    (void)::setrlimit(RLIMIT_FSIZE, &limit);
  };
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_NE(outcome.err.find("the run is not recorded: write '" + Bundle() + "'"),
            std::string::npos)
      << outcome.err;
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/ran"), "yes");
  EXPECT_NE(At(answer, "/record/error"), "missing");
  EXPECT_EQ(ReadWholeFile(Bundle()), before);
  EXPECT_EQ(Verify({"--expect-lines", "1"}).status, 0);
}

TEST_F(Record, ThatCannotBeWrittenRefusesTheRunBeforeItStarts) {
  const std::string seen = Folder() / "seen";
  Folder().MakeDirectory("seen");
  ASSERT_EQ(::chmod(seen.c_str(), 0777), 0);
  for (const Words& flags :
       {Words{"--record", "/proc/records.jsonl"}, Words{"--record", "/dev/null"},
        Words{"--record", Folder() / "no/such/folder"}, Words{"--key", Folder() / "no-such-key"}}) {
    Words words = flags;
    const Words volume = testing_support::Writable(seen + ":/seen");
    words.insert(words.end(), volume.begin(), volume.end());
    words.insert(words.end(), {"--", "touch", "/seen/ran"});
    const Outcome outcome = RunExec(std::move(words));
    EXPECT_EQ(outcome.status, 125) << flags[1];
    EXPECT_NE(outcome.err.find("plimsoll: hint: "), std::string::npos) << outcome.err;
    EXPECT_NE(::access((seen + "/ran").c_str(), F_OK), 0) << flags[1];
  }
}

// A key that changes while the guest runs: what is there when the guest has ended counts.
TEST_F(Record, IsSignedByTheKeyThatIsThereWhenTheGuestHasEnded) {
  const std::string good = ReadWholeFile(KeyFile());
  const Doorbell bell(Folder());
  const auto run_with = [&](const std::string& before, const std::string& after) {
    Folder().WriteFile("home/.config/plimsoll/harness.key", before, 0600);
    Words flags = bell.Flags();
    flags.insert(flags.end(), {"--record", Bundle(), "-i"});
    Command command = Script("echo up; cat", flags);
    command.keep_input_open = true;
    Process run(std::move(command));
    run.ReadUntil("up");
    Folder().WriteFile("home/.config/plimsoll/harness.key", after, 0600);
    run.CloseInput();
    return run.Wait().status;
  };
  EXPECT_EQ(run_with("no key yet\n", good), 0);
  EXPECT_EQ(run_with(good, "no key any more\n"), 125);
  EXPECT_EQ(Lines().size(), 1U);
  EXPECT_EQ(Verify().status, 0);
}

TEST_F(Record, HasItsKeyInNoMemoryOfARunnerWhoseGuestRuns) {
  const std::string key = Folder() / "mine.key";
  ASSERT_EQ(RunCommand(Plimsoll({"keygen", key})).status, 0);
  const std::string pem = ReadWholeFile(key);
  const std::size_t line = pem.find('\n') + 1;
  const std::string base64 = pem.substr(line, pem.find('\n', line) - line);
  const std::string seed = DecodeBase64(base64).value().substr(16);
  ASSERT_EQ(seed.size(), 32U);
  Process run(Script("echo up; sleep 99", {"--record", Bundle(), "--key", key}));
  run.ReadUntil("up");
  // Nobody but root may look into the runner, which is undumpable.
  const std::string path = "/proc/" + std::to_string(run.Pid()) + "/";
  std::ifstream maps(path + "maps");
  const int memory = ::open((path + "mem").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(memory >= 0 && maps.good(), IsRoot());
  for (std::string map; std::getline(maps, map);) {
    const std::size_t dash = map.find('-');
    const auto from = std::stoull(map.substr(0, dash), nullptr, 16);
    const auto to = std::stoull(map.substr(dash + 1), nullptr, 16);
    if (map.find(" r") == std::string::npos || to - from > (64U << 20U)) continue;
    std::string bytes(to - from, '\0');
    const ssize_t count = ::pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(from));
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    EXPECT_EQ(bytes.find(seed), std::string::npos) << map;
    EXPECT_EQ(bytes.find(base64), std::string::npos) << map;
  }
  if (memory >= 0) (void)::close(memory);
}

TEST_F(Record, KeyIsMadeOnFirstUseAndSaidOnce) {
  const std::string config = Folder().MakeDirectory("config");
  const auto run = [&] {
    Command command = Exec({"--record", Bundle(), "--", "true"});
    SetVariable(command, "XDG_CONFIG_HOME", config);
    return command;
  };
  Process first(run());
  Process second(run());
  const std::string said = first.Wait().err + second.Wait().err;
  const std::string key = config + "/plimsoll/harness.key";
  const std::string note = "plimsoll: made a key to sign records with, '" + key + "'";
  EXPECT_EQ(said.find(note), said.rfind(note));
  EXPECT_NE(said.find(note), std::string::npos) << said;
  EXPECT_EQ(RunCommand(run()).err, "");
  EXPECT_EQ(Verify({"--pub", config + "/plimsoll/harness.pub", "--expect-lines", "3"}).status, 0);
  struct stat status = {};
  ASSERT_EQ(::stat(key.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(Record, KeyThatOthersCanReadIsRefused) {
  ASSERT_EQ(::chmod(KeyFile().c_str(), 0644), 0);
  const Outcome outcome = RunRecorded({"--", "true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.err, "plimsoll: the private key '" + KeyFile() +
                             "' can be read by others\nplimsoll: hint: chmod 600 " + KeyFile() +
                             "\n");
}

TEST_F(Record, KeysOfOnesOwnSignAndVerify) {
  const std::string key = Folder() / "mine.key";
  EXPECT_EQ(RunCommand(Plimsoll({"keygen", key})).status, 0);
  const std::string bytes = ReadWholeFile(key);
  const Outcome again = RunCommand(Plimsoll({"keygen", key}));
  EXPECT_EQ(again.status, 125);
  EXPECT_NE(again.err.find("is there already"), std::string::npos);
  EXPECT_EQ(ReadWholeFile(key), bytes);
  EXPECT_EQ(RunRecorded({"--key", key, "--", "true"}).status, 0);
  EXPECT_EQ(Verify({"--pub", Folder() / "mine.pub"}).status, 0);
  EXPECT_EQ(Verify().status, 1);
}

TEST_F(Record, VerifiesOrNotOrCannotBeRead) {
  ASSERT_EQ(RunRecorded({"--", "true"}).status, 0);
  EXPECT_EQ(Verify().status, 0);
  EXPECT_EQ(Verify({"--expect-lines", "2"}).status, 1);
  EXPECT_EQ(Verify({"--expect-lines", "x"}).status, 2);
  EXPECT_EQ(Verify({"--pub", "/nonexistent"}).status, 2);
  EXPECT_EQ(Verify({"--pub", "/etc/passwd"}).status, 2);
  EXPECT_EQ(RunCommand(Plimsoll({"verify", "/nonexistent"})).status, 2);
  EXPECT_EQ(At(ParseAnswer(Verify({"--json", "--expect-lines", "2"})), "/verified"), "false");
}

TEST_F(Record, IsShownToPeopleWhenItVerifies) {
  ASSERT_EQ(RunRecorded({"--", "echo", "first"}).status, 0);
  ASSERT_EQ(RunRecorded({"--timeout", "9", "--", "sh", "-c", "exit 5"}).status, 5);
  const Outcome last = RunCommand(Plimsoll({"show", Bundle()}));
  EXPECT_EQ(last.status, 0) << last.err;
  EXPECT_NE(last.out.find("ran        'sh' '-c' 'exit 5'\n  ended    exit 5\n"), std::string::npos)
      << last.out;
  EXPECT_NE(last.out.find("  limit    timeout 9000 ms (timer)\n"), std::string::npos) << last.out;
  const Outcome first = RunCommand(Plimsoll({"show", "--line", "1", Bundle()}));
  EXPECT_NE(first.out.find("ran        'echo' 'first'\n"), std::string::npos) << first.out;
  const Outcome plan = RunCommand(Plimsoll({"show", "--plan", "--line", "1", Bundle()}));
  EXPECT_EQ(plan.out.rfind("launch\n   0  clone into new namespaces", 0), 0U) << plan.out;
  EXPECT_EQ(RunCommand(Plimsoll({"show", "--line", "3", Bundle()})).status, 2);
  std::string bytes = ReadWholeFile(Bundle());
  bytes.replace(bytes.find("first"), 5, "fiRst");
  Folder().WriteFile("bundle.jsonl", bytes, 0600);
  const Outcome changed = RunCommand(Plimsoll({"show", "--line", "1", Bundle()}));
  EXPECT_EQ(changed.status, 1);
  EXPECT_EQ(changed.out, "");
}

TEST_F(Record, HasOnlyTheHashOfAVariablesValueUnlessAsked) {
  ASSERT_EQ(RunRecorded({"-e", "TOKEN=hunter2hunter2", "--", "true"}).status, 0);
  EXPECT_EQ(ReadWholeFile(Bundle()).find("hunter2"), std::string::npos);
  ASSERT_EQ(RunRecorded({"--record-env", "-e", "TOKEN=hunter2hunter2", "--", "true"}).status, 0);
  EXPECT_NE(ReadWholeFile(Bundle()).find("hunter2hunter2"), std::string::npos);
  EXPECT_EQ(Verify({"--expect-lines", "2"}).status, 0);
}

TEST_F(Record, AndItsKeyAreNotShownToTheGuest) {
  for (const std::string& flag : {std::string("--record"), std::string("--key")}) {
    const std::string folder = Folder().MakeDirectory("secret" + flag);
    const std::string file = folder + "/file";
    if (flag == "--key") {
      ASSERT_EQ(RunCommand(Plimsoll({"keygen", file})).status, 0);
    }
    const Outcome outcome = RunExec({flag, file, "-v", folder + ":/x", "--", "true"});
    EXPECT_EQ(outcome.status, 125) << flag;
    EXPECT_NE(outcome.err.find(file), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace plimsoll
