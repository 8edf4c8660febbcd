// The guest's standard streams: complete, apart, and reversible in the JSON response.

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "crypto/sha256.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Binary;
using testing_support::Command;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::Process;
using testing_support::RunCommand;

constexpr std::size_t kFiftyMegabytes = std::size_t{50} << 20U;

class Streams : public PlimsollTest {};

// Bytes without a pattern, the same in every run.
std::string Noise(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24U);
  }
  return bytes;
}

std::string DecodeBase64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    group = group << 6U | static_cast<std::uint32_t>(kAlphabet.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 255U);
  }
  return bytes;
}

TEST_F(Streams, StayApartAndComplete) {
  const Outcome outcome = RunScript("echo out; echo err >&2");
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_EQ(outcome.err, "err\n");
}

TEST_F(Streams, BothReachASlowReaderWhole) {
  Command command = Script("head -c 52428800 /dev/zero >&2 & head -c 52428800 /dev/zero; wait");
  command.pipe_bytes = 4096;
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.out == std::string(kFiftyMegabytes, '\0')) << outcome.out.size();
  EXPECT_TRUE(outcome.err == std::string(kFiftyMegabytes, '\0')) << outcome.err.size();
}

TEST_F(Streams, AreCutInTheResponseAndCountedAndHashedWhole) {
  const Outcome outcome =
      RunScript("head -c 52428800 /dev/zero >&2 & head -c 52428800 /dev/zero; wait", {"--json"});
  const auto answer = ParseAnswer(outcome);
  for (const std::string stream : {"stdout", "stderr"}) {
    const std::string at = "/project/steps/0/" + stream;
    EXPECT_EQ(At(answer, at + "/bytes"), std::to_string(kFiftyMegabytes));
    EXPECT_EQ(At(answer, at + "/truncated"), "true");
    EXPECT_EQ(At(answer, at + "/sha256"), crypto::Sha256HexOf(std::string(kFiftyMegabytes, '\0')));
    EXPECT_EQ(At(answer, at + "/text").size(), std::size_t{1} << 20U);
  }
}

TEST_F(Streams, StandardInputReachesAnInteractiveGuestByteForByte) {
  for (const std::size_t size : {0U, 1U, 100000U, 5000000U}) {
    Command command = Exec({"-i", "--", "cat"});
    command.input = Noise(size);
    const Outcome outcome = RunCommand(std::move(command));
    EXPECT_EQ(outcome.status, 0) << size;
    EXPECT_TRUE(outcome.out == Noise(size)) << size << " became " << outcome.out.size();
  }
}

TEST_F(Streams, StandardInputReachesTheGuestAsItComes) {
  Command command = Exec({"-i", "--", "cat"});
  command.keep_input_open = true;
  Process cat(std::move(command));
  cat.Write("first\n");
  cat.ReadUntil("first\n");
  cat.Write("second\n");
  cat.ReadUntil("second\n");
  cat.CloseInput();
  EXPECT_EQ(cat.Wait().status, 0);
}

TEST_F(Streams, StandardInputIsEmptyWithoutInteractive) {
  Command command = Exec({"--", "cat"});
  command.keep_input_open = true;
  Process cat(std::move(command));
  const Outcome outcome = cat.Wait();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Streams, ATerminalIsNotReadWithoutInteractive) {
  Command command = Exec({"--", "sh", "-c", "cat; test -t 0 || echo no terminal"});
  command.prepare = [] {
    const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    (void)::grantpt(master);
    (void)::unlockpt(master);
    (void)::dup2(::open(::ptsname(master), O_RDWR | O_NOCTTY), STDIN_FILENO);
    (void)::fcntl(master, F_SETFD, 0);
  };
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "no terminal\n");
}

TEST_F(Streams, AGuestThatDoesNotReadItsInputEndsAllTheSame) {
  Command command = Exec({"-i", "--", "true"});
  command.keep_input_open = true;
  EXPECT_EQ(Process(std::move(command)).Wait().status, 0);
  Command head = Exec({"-i", "--", "head", "-c", "3"});
  head.input = Noise(5000000);
  const Outcome outcome = RunCommand(std::move(head));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, Noise(3));
}

TEST_F(Streams, AReaderThatLeavesEndsTheGuestAsAPipeWould) {
  Command command = Exec({"--", "yes"});
  command.arguments.insert(command.arguments.begin(),
                           {"/bin/sh", "-c", "{ \"$0\" \"$@\"; echo status $? >&2; } | head -n 1"});
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.out, "y\n");
  EXPECT_EQ(outcome.err, "status 141\n");
}

TEST_F(Streams, OutputOfDetachedProcessesIsKeptUpToTheEnd) {
  const Outcome outcome = RunScript("(echo early; setsid sleep 99 &); echo late; exit 3");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.out, "early\nlate\n");
}

TEST_F(Streams, RubbishIsReversibleInTheResponse) {
  const Outcome outcome =
      RunScript("printf '\\377\\000\\001{\"a\":\\n'; printf '\\303' >&2", {"--json"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/steps/0/stdout/text"), "missing");
  EXPECT_EQ(DecodeBase64(At(answer, "/project/steps/0/stdout/base64")),
            std::string("\377\000\001{\"a\":\n", 9));
  EXPECT_EQ(DecodeBase64(At(answer, "/project/steps/0/stderr/base64")), "\303");
}

TEST_F(Streams, ControlBytesAreReversibleInTheResponse) {
  const Outcome outcome = RunScript("printf 'a\\000b\\033[2J\"\\\\\\r\\n\\177'", {"--json"});
  EXPECT_EQ(At(ParseAnswer(outcome), "/project/steps/0/stdout/text"),
            std::string("a\0b\033[2J\"\\\r\n\177", 12));
}

TEST_F(Streams, AMegabyteWithoutANewlineIsOneText) {
  const Outcome outcome = RunScript("head -c 1048576 /dev/zero | tr '\\0' x", {"--json"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/steps/0/stdout/text"), std::string(1048576, 'x'));
  EXPECT_EQ(At(answer, "/project/steps/0/stdout/truncated"), "false");
}

TEST_F(Streams, TheResponseIsAllOfStandardOutput) {
  const Outcome outcome =
      RunScript("echo '{\"protocol\": 9}'; echo '}]' >&2; head -c 1000 /dev/urandom", {"--json"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(At(ParseAnswer(outcome), "/protocol"), "2");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1);
}

TEST_F(Streams, OutputLimitCutsWhatIsKeptAndNothingElse) {
  const Outcome outcome = RunScript("printf abcdef", {"--json", "--output-limit", "4"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/steps/0/stdout/text"), "abcd");
  EXPECT_EQ(At(answer, "/project/steps/0/stdout/bytes"), "6");
  EXPECT_EQ(At(answer, "/project/steps/0/stdout/truncated"), "true");
  EXPECT_EQ(At(answer, "/project/steps/0/stdout/sha256"), crypto::Sha256HexOf("abcdef"));
  EXPECT_EQ(RunScript("printf abcdef", {"--output-limit", "4"}).out, "abcdef");
  EXPECT_EQ(At(ParseAnswer(RunScript("printf abcdef", {"--json", "--output-limit", "0"})),
               "/project/steps/0/stdout/text"),
            "");
}

TEST_F(Streams, ACharacterCutByTheLimitIsReversibleToo) {
  const Outcome outcome = RunScript("printf 'a\\303\\251'", {"--json", "--output-limit", "2"});
  EXPECT_EQ(DecodeBase64(At(ParseAnswer(outcome), "/project/steps/0/stdout/base64")), "a\303");
}

TEST_F(Streams, AGuestCannotReopenTheCallersFiles) {
  const std::string path = Folder().WriteFile("target", "untouched");
  Command command = Script("echo x > /proc/self/fd/0; echo x > /dev/stdin; true", {"-i"});
  command.prepare = [path] { (void)::dup2(::open(path.c_str(), O_RDONLY), STDIN_FILENO); };
  EXPECT_EQ(RunCommand(std::move(command)).status, 0);
  EXPECT_EQ(testing_support::ReadWholeFile(path), "untouched");
}

}  // namespace
}  // namespace plimsoll
