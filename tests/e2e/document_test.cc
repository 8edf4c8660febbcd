// What --json prints is JSON and UTF-8, whatever bytes the caller's words are made of.

#include "base/text.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::RunCommand;
using testing_support::Words;

class Document : public PlimsollTest {};

TEST_F(Document, HasACommandThatIsNoUtf8AsBytesToo) {
  const Outcome outcome = RunExec({"--json", "--", "echo", "a\xff"});
  ASSERT_TRUE(IsUtf8(outcome.out)) << outcome.out;
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/steps/0/command"), "'echo' 'a\\xff'");
  EXPECT_EQ(At(answer, "/project/steps/0/command_base64"), Base64("'echo' 'a\xff'"));
  EXPECT_EQ(At(answer, "/project/steps/0/stdout/base64"), Base64("a\xff\n"));
  EXPECT_EQ(At(ParseAnswer(RunExec({"--json", "--", "true"})), "/project/steps/0/command_base64"),
            "missing");
}

TEST_F(Document, IsUtf8WhateverTheFlagsHold) {
  Folder().WriteFile("workspace/a\xff", "");
  Folder().MakeDirectory("workspace/oci\xff");
  const std::vector<Words> rows = {
      {"-e", "A=\xff", "--", "true"},           {"-e", "\xff=1", "--", "true"},
      {"-v", "a\xff:/tmp/b\xff", "--", "true"}, {"-v", "no\xff:/tmp/b", "--", "true"},
      {"-w", "/work\xff", "--", "true"},        {"-u", "\xff", "--", "true"},
      {"--image", "a:\xff", "--", "true"},      {"--image", "oci:oci\xff", "--", "true"},
      {"--env-file", "\xff", "--", "true"},     {"--trace-id", "\xff", "--", "true"},
      {"--memory", "\xff", "--", "true"},       {"--\xff", "--", "true"},
      {"--seccomp", "\xff", "--", "true"},      {"--", "\xff"}};
  for (const std::string verb : {"exec", "plan"}) {
    for (Words words : rows) {
      words.insert(words.begin(), {verb, "--json"});
      const Outcome outcome = RunCommand(Plimsoll(words));
      EXPECT_TRUE(IsUtf8(outcome.out)) << verb << " " << words[2] << ": " << outcome.out;
      (void)ParseAnswer(outcome);
    }
  }
}

}  // namespace
}  // namespace plimsoll
