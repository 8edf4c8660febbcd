// `plimsoll run`: files that come in, and artifacts that come back.

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

class RunFiles : public RunTest {};

TEST_F(RunFiles, PutsFilesIntoTheProjectFolder) {
  const auto answer = ParseAnswer(RunSteps(
      {"cat text; od -An -tx1 deep/er/bytes; ./tool; stat -c '%a %u' text tool deep; id -u"},
      R"(,"files":[{"path":"text","text":"käse\n"},{"path":"deep/er/bytes","base64":"AP8K"},)"
      R"({"path":"tool","text":"#!/bin/sh\necho ran\n","executable":true}])"));
  EXPECT_EQ(At(answer, Step(0, "stdout/text")),
            "käse\n 00 ff 0a\nran\n644 1000\n755 1000\n755 1000\n1000\n");
}

TEST_F(RunFiles, StartsInTheProjectFolderAndCountsPathsFromThere) {
  const std::string project = R"(,"files":[{"path":"f","text":"x"}],"artifacts":["f"])";
  EXPECT_EQ(At(ParseAnswer(RunSteps({"pwd"}, project)), Step(0, "stdout/text")), "/work\n");
  const auto answer = ParseAnswer(RunSteps({"cat /work/f; pwd"}, project + R"(,"workdir":"/tmp")"));
  EXPECT_EQ(At(answer, Step(0, "stdout/text")), "x/tmp\n");
  EXPECT_EQ(At(answer, "/project/artifacts/0/text"), "x");
}

TEST_F(RunFiles, BringsArtifactsBackByteForByte) {
  const auto answer = ParseAnswer(RunSteps({"mkdir d; echo one > d/text", "printf '\\0\\377' > b"},
                                           R"(,"artifacts":["d/text","b","empty"])"));
  EXPECT_EQ(At(answer, "/project/artifacts"), "2");
  EXPECT_EQ(At(answer, "/project/artifacts/0/path"), "d/text");
  EXPECT_EQ(At(answer, "/project/artifacts/0/text"), "one\n");
  EXPECT_EQ(At(answer, "/project/artifacts/0/bytes"), "4");
  EXPECT_EQ(At(answer, "/project/artifacts/0/sha256"),
            "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806");
  EXPECT_EQ(At(answer, "/project/artifacts/1/base64"), "AP8=");
  EXPECT_EQ(At(answer, "/project/artifacts_missing/0/path"), "empty");
  EXPECT_EQ(At(answer, "/project/artifacts_missing/0/reason"),
            "ENOENT (No such file or directory)");
  EXPECT_EQ(At(answer, "/project/artifacts_truncated"), "false");
}

TEST_F(RunFiles, BringsBackNothingButRegularFilesBelowTheProjectFolder) {
  const auto answer = ParseAnswer(RunSteps(
      {"ln -s /etc/passwd link; mkfifo fifo; mkdir dir; ln -s /etc up; ln /work/real hard; "
       "echo real > real; ln real twin; : > shut; chmod 000 shut"},
      R"(,"artifacts":["link","fifo","dir","up/passwd","twin","shut"])"));
  EXPECT_EQ(At(answer, "/project/artifacts"), "1");
  EXPECT_EQ(At(answer, "/project/artifacts/0/path"), "twin");
  const Words reasons = {"it is a symbolic link, or lies behind one", "it is no regular file",
                         "it is no regular file", "it is a symbolic link, or lies behind one",
                         "EACCES (Permission denied)"};
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    EXPECT_EQ(At(answer, "/project/artifacts_missing/" + std::to_string(i) + "/reason"),
              reasons[i]);
  }
}

TEST_F(RunFiles, ReadsAProjectFolderThatTheGuestHasReplacedThroughNoLink) {
  const std::string folder = Folder().MakeDirectory("data");
  Folder().WriteFile("data/shadow", "of the host");
  const auto answer =
      ParseAnswer(RunSteps({"true"}, R"(,"artifacts":["shadow"],"mounts":[{"source":")" + folder +
                                         R"(","destination":"/work"}])"));
  EXPECT_EQ(At(answer, "/project/artifacts/0/text"), "of the host");
}

TEST_F(RunFiles, LeavesOutWhatIsTooLargeAndSaysSo) {
  const auto answer = ParseAnswer(
      RunSteps({"head -c 16777217 /dev/zero | tr '\\0' x > big; head -c 16777216 big > fits; "
                "truncate -s 1T huge"},
               R"(,"artifacts":["big","fits","huge"])"));
  EXPECT_EQ(At(answer, "/project/artifacts_truncated"), "true");
  EXPECT_EQ(At(answer, "/project/artifacts"), "1");
  EXPECT_EQ(At(answer, "/project/artifacts/0/bytes"), "16777216");
  EXPECT_EQ(At(answer, "/project/artifacts_missing/0/reason"), "it is larger than 16 MiB");
}

TEST_F(RunFiles, BringsArtifactsBackFromAStepThatFails) {
  const Outcome outcome = RunSteps({"echo kept > a; exit 3", "true"}, R"(,"artifacts":["a"])");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(At(ParseAnswer(outcome), "/project/artifacts/0/text"), "kept\n");
}

TEST_F(RunFiles, BringsArtifactsBackFromATimeoutThatTermWasEnoughFor) {
  const auto answer = ParseAnswer(RunSteps({"echo kept > a; exec sleep 99"},
                                           R"(,"artifacts":["a"],"limits":{"kill_after_ms":30000})",
                                           R"(,"timeout_ms":300)"));
  EXPECT_EQ(At(answer, "/project/outcome"), "timed_out");
  EXPECT_EQ(At(answer, "/project/artifacts/0/text"), "kept\n");
  const auto killed = ParseAnswer(
      RunSteps({"echo lost > a; trap '' TERM; while :; do sleep 1; done"},
               R"(,"artifacts":["a"],"limits":{"kill_after_ms":100})", R"(,"timeout_ms":300)"));
  EXPECT_EQ(At(killed, "/project/artifacts_missing/0/reason"),
            "the sandbox ended before it was read");
}

TEST_F(RunFiles, ReadsArtifactsWhenNoProcessCanChangeThemAnyMore) {
  const auto answer = ParseAnswer(RunSteps(
      {"echo good > a; (while :; do echo bad > b; mv b a; ln -sf /etc/passwd a; done) & exit 0"},
      R"(,"artifacts":["a"])"));
  EXPECT_EQ(At(answer, "/project/steps/0/exit_code"), "0");
  EXPECT_TRUE(At(answer, "/project/artifacts") == "1" ||
              At(answer, "/project/artifacts_missing") == "1");
}

TEST_F(RunFiles, RefusesAFileInAVolumeAndFilesThatDoNotFit) {
  const auto answer = ParseAnswer(
      RunSteps({"true"}, R"(,"files":[{"path":"a","text":""}],"mounts":[{"source":")" +
                             Folder().MakeDirectory("data") + R"(","destination":"/work"}])"));
  EXPECT_EQ(At(answer, "/refusal/message"),
            "the file 'a' would lie at '/work/a', in the way of the volume on '/work'");
  const std::string large(131072, 'x');
  EXPECT_EQ(At(ParseAnswer(RunSteps({"true"}, R"(,"files":[{"path":"a","text":")" + large +
                                                  R"("}],"limits":{"tmpfs_bytes":65536})")),
               "/refusal/reason"),
            "capacity");
}

TEST_F(RunFiles, CarriesAsManyBytesOfFilesAsThereMayBe) {
  const std::string half(std::size_t{32} << 20U, 'x');
  const auto answer = ParseAnswer(RunSteps({"wc -c < a; cat a b | sha256sum; tail -c 3 b"},
                                           R"(,"files":[{"path":"a","text":")" + half +
                                               R"("},{"path":"b","text":")" + half +
                                               R"("}],"limits":{"tmpfs_bytes":134217728})"));
  EXPECT_EQ(At(answer, Step(0, "stdout/text")).substr(0, 9), "33554432\n");
  EXPECT_EQ(At(answer, Step(0, "exit_code")), "0");
}

}  // namespace
}  // namespace plimsoll
