#include "cli/flags.h"

#include <gtest/gtest.h>

#include <tuple>

namespace plimsoll::cli {
namespace {

// A program with every kind of flag: -a/--all, -n/--name VALUE, -v/--volume VALUE (repeatable).
struct Program {
  Program() {
    flags.Switch("-a,--all", all, "");
    flags.Switch("-b,--both", both, "");
    flags.Value("-n,--name", name, "");
    flags.Values("-v,--volume", volumes, "");
  }

  Flags flags = Flags("", "plimsoll test", "[FLAGS]");
  bool all = false;
  bool both = false;
  std::string name;
  Words volumes;
};

struct Row {
  const char* what;
  Words words;
  Words operands;
  std::string name;  // what --name has got
};

TEST(Flags, EndAtTheFirstOperand) {
  const std::vector<Row> rows = {
      {"nothing", {}, {}, ""},
      {"command only", {"ls"}, {"ls"}, ""},
      {"flags of the command", {"ls", "-a", "--name", "x"}, {"ls", "-a", "--name", "x"}, ""},
      {"flag before", {"-a", "ls", "-b"}, {"ls", "-b"}, ""},
      {"value is no operand", {"-n", "ls", "cat"}, {"cat"}, "ls"},
      {"value joined by equals", {"--name=ls", "cat"}, {"cat"}, "ls"},
      {"value in the same word", {"-nls", "cat"}, {"cat"}, "ls"},
      {"cluster", {"-ab", "cat"}, {"cat"}, ""},
      {"cluster with a value in it", {"-abnls", "cat"}, {"cat"}, "ls"},
      {"cluster with a value behind it", {"-abn", "ls", "cat"}, {"cat"}, "ls"},
      {"value that looks like a flag", {"-n", "-a", "cat"}, {"cat"}, "-a"},
      {"two dashes", {"-a", "--", "-b"}, {"-b"}, ""},
      {"two dashes twice", {"--", "--", "x"}, {"--", "x"}, ""},
      {"two dashes and nothing", {"-a", "--"}, {}, ""},
      {"two dashes behind the command", {"ls", "--", "x"}, {"ls", "--", "x"}, ""},
      {"one dash is an operand", {"-", "-a"}, {"-", "-a"}, ""},
      {"an empty word is an operand", {"", "-a"}, {"", "-a"}, ""},
      {"repeated", {"-v", "a", "-v", "b", "ls"}, {"ls"}, ""},
  };
  for (const Row& row : rows) {
    Program program;
    const auto parsed = program.flags.Parse(row.words, FlagsEnd::kAtFirstOperand);
    ASSERT_TRUE(parsed.has_value()) << row.what << ": " << parsed.error().Message();
    EXPECT_EQ(parsed->operands, row.operands) << row.what;
    EXPECT_EQ(program.name, row.name) << row.what;
  }
}

TEST(Flags, MayFollowOperandsWhereTheCommandIsOurs) {
  Program program;
  const auto parsed =
      program.flags.Parse({"one", "-a", "two", "--name", "x", "--", "-b"}, FlagsEnd::kAtDashes);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().Message();
  EXPECT_EQ(parsed->operands, (Words{"one", "two", "-b"}));
  EXPECT_TRUE(program.all);
  EXPECT_FALSE(program.both);
  EXPECT_EQ(program.name, "x");
}

TEST(Flags, RefuseWhatIsNoFlag) {
  const std::vector<std::pair<Words, std::string>> rows = {
      {{"--nmae", "x"}, "unknown flag '--nmae'"},
      {{"--nmae=x"}, "unknown flag '--nmae'"},
      {{"-z"}, "unknown flag '-z'"},
      {{"-az"}, "unknown flag '-z'"},
      {{"--name"}, "flag '--name' needs a value"},
      {{"-a", "-n"}, "flag '-n' needs a value"},
      {{"--name", ""}, "flag '--name' has an empty value"},
  };
  for (const auto& [words, complaint] : rows) {
    Program program;
    const auto parsed = program.flags.Parse(words, FlagsEnd::kAtFirstOperand);
    ASSERT_FALSE(parsed.has_value()) << complaint;
    EXPECT_EQ(parsed.error().what, complaint);
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
  }
  Program program;
  EXPECT_EQ(program.flags.Parse({"--nmae", "x"}, FlagsEnd::kAtFirstOperand).error().hint,
            "did you mean '--name'? 'plimsoll test -h' lists the flags");
}

// Which of two values was meant is the caller's to say; the last one would be a guess.
TEST(Flags, WithOneValueAreRefusedTheSecondTime) {
  const std::vector<std::pair<Words, std::string>> rows = {
      {{"--name", "3s", "--name", "4s"}, "flag '--name' was given twice: '3s' and '4s'"},
      {{"-nx", "--name=x", "ls"}, "flag '--name' was given twice: 'x' and 'x'"},
      {{"-n", "a", "-b", "-nb", "-n", "c"}, "flag '--name' was given 3 times: 'a', 'b' and 'c'"},
      {{"-n", "", "-n", "a"}, "flag '--name' was given twice: '' and 'a'"},
  };
  for (const auto& [words, complaint] : rows) {
    Program program;
    const auto parsed = program.flags.Parse(words, FlagsEnd::kAtFirstOperand);
    ASSERT_FALSE(parsed.has_value()) << complaint;
    EXPECT_EQ(parsed.error().what, complaint);
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(parsed.error().hint, "'plimsoll test -h' lists the flags");
  }
  Program program;
  EXPECT_TRUE(program.flags.Parse({"-a", "-a", "ls"}, FlagsEnd::kAtFirstOperand)) << "no value";
}

TEST(Flags, AreFilledFromEveryFormOfWriting) {
  Program program;
  const Words words = {"-abn", "ls", "-v", "x", "-v=y", "--volume=z", "cat", "-b"};
  const auto parsed = program.flags.Parse(words, FlagsEnd::kAtFirstOperand);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().Message();
  EXPECT_TRUE(parsed->help.empty());
  EXPECT_TRUE(program.all && program.both);
  EXPECT_EQ(program.name, "ls");
  EXPECT_EQ(program.volumes.size(), 3U);
}

TEST(Flags, HelpIsToldApart) {
  Program program;
  const auto parsed = program.flags.Parse({"-a", "--help"}, FlagsEnd::kAtFirstOperand);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_NE(parsed->help.find("Usage: plimsoll test [FLAGS]"), std::string::npos);
  EXPECT_NE(parsed->help.find("--volume"), std::string::npos);
}

// Whatever the words are, making only the flags that they mention gives what all flags give, or an
// error that sends the caller to all of them.
TEST(Flags, OnlyMentionedGivesTheSameAsAll) {
  const std::vector<Words> lines = {
      {"ls"},          {"-a", "ls"},     {"-ab", "ls"}, {"-abn", "x", "ls"},  {"-nx", "ls"},
      {"--name", "x"}, {"--name=x"},     {"-v", "-a"},  {"--volume=-b", "x"}, {"-bva", "ls"},
      {"-n", "--all"}, {"--all", "-v=q"}};
  for (const Words& words : lines) {
    Program all;
    const auto expected = all.flags.Parse(words, FlagsEnd::kAtFirstOperand);
    Flags few("", "plimsoll test", "[FLAGS]");
    few.OnlyMentioned(words);
    Program given;
    few.Switch("-a,--all", given.all, "");
    few.Switch("-b,--both", given.both, "");
    few.Value("-n,--name", given.name, "");
    few.Values("-v,--volume", given.volumes, "");
    const auto parsed = few.Parse(words, FlagsEnd::kAtFirstOperand);
    ASSERT_EQ(parsed.has_value(), expected.has_value()) << words[0];
    EXPECT_EQ(parsed->operands, expected->operands) << words[0];
    EXPECT_EQ(std::tie(given.all, given.both, given.name, given.volumes),
              std::tie(all.all, all.both, all.name, all.volumes))
        << words[0];
  }
}

}  // namespace
}  // namespace plimsoll::cli
