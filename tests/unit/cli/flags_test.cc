#include "cli/flags.h"

#include <gtest/gtest.h>

namespace plimsoll::cli {
namespace {

using Words = std::vector<std::string>;

// An app with every kind of flag: -a/--all, -n/--name VALUE, -v/--volume VALUE (repeatable).
class TakeOperandsTest : public ::testing::Test {
 protected:
  TakeOperandsTest() : app_("", "plimsoll test") {
    app_.add_flag("-a,--all", all_);
    app_.add_flag("-b", b_);
    app_.add_option("-n,--name", name_);
    app_.add_option("-v,--volume", volumes_)->take_all()->allow_extra_args(false);
  }

  CLI::App app_;
  bool all_ = false;
  bool b_ = false;
  std::string name_;
  Words volumes_;
};

struct Row {
  const char* name;
  Words words;
  Words flags;
  Words operands;
};

TEST_F(TakeOperandsTest, EndsTheFlagsAtTheFirstOperand) {
  const std::vector<Row> rows = {
      {"nothing", {}, {}, {}},
      {"command only", {"ls"}, {}, {"ls"}},
      {"flags of the command", {"ls", "-a", "--name", "x"}, {}, {"ls", "-a", "--name", "x"}},
      {"flag before", {"-a", "ls", "-b"}, {"-a"}, {"ls", "-b"}},
      {"value is no operand", {"-n", "ls", "cat"}, {"-n", "ls"}, {"cat"}},
      {"value joined by equals", {"--name=ls", "cat"}, {"--name=ls"}, {"cat"}},
      {"value in the same word", {"-nls", "cat"}, {"-nls"}, {"cat"}},
      {"cluster", {"-ab", "cat"}, {"-ab"}, {"cat"}},
      {"cluster with a value in it", {"-abnls", "cat"}, {"-abnls"}, {"cat"}},
      {"cluster with a value behind it", {"-abn", "ls", "cat"}, {"-abn", "ls"}, {"cat"}},
      {"value that looks like a flag", {"-n", "-a", "cat"}, {"-n", "-a"}, {"cat"}},
      {"two dashes", {"-a", "--", "-b"}, {"-a"}, {"-b"}},
      {"two dashes twice", {"--", "--", "x"}, {}, {"--", "x"}},
      {"two dashes and nothing", {"-a", "--"}, {"-a"}, {}},
      {"two dashes behind the command", {"ls", "--", "x"}, {}, {"ls", "--", "x"}},
      {"one dash is an operand", {"-", "-a"}, {}, {"-", "-a"}},
      {"an empty word is an operand", {"", "-a"}, {}, {"", "-a"}},
      {"repeated", {"-v", "a", "-v", "b", "ls"}, {"-v", "a", "-v", "b"}, {"ls"}},
  };
  for (const Row& row : rows) {
    Words words = row.words;
    const auto operands = TakeOperands(app_, words);
    ASSERT_TRUE(operands.has_value()) << row.name << ": " << operands.error().Message();
    EXPECT_EQ(*operands, row.operands) << row.name;
    EXPECT_EQ(words, row.flags) << row.name;
  }
}

TEST_F(TakeOperandsTest, RefusesWhatIsNoFlag) {
  const std::vector<std::pair<Words, std::string>> rows = {
      {{"--nmae", "x"}, "unknown flag '--nmae'"},
      {{"--nmae=x"}, "unknown flag '--nmae'"},
      {{"-z"}, "unknown flag '-z'"},
      {{"-az"}, "unknown flag '-z'"},
      {{"--name"}, "flag '--name' needs a value"},
      {{"-a", "-n"}, "flag '-n' needs a value"},
  };
  for (const auto& [given, complaint] : rows) {
    Words words = given;
    const auto operands = TakeOperands(app_, words);
    ASSERT_FALSE(operands.has_value()) << complaint;
    EXPECT_EQ(operands.error().what, complaint);
    EXPECT_EQ(operands.error().kind, ErrorKind::kUsage);
  }
  Words typo = {"--nmae", "x"};
  EXPECT_EQ(TakeOperands(app_, typo).error().hint,
            "did you mean '--name'? 'plimsoll test -h' lists the flags");
}

TEST_F(TakeOperandsTest, LeavesWordsThatTheParserUnderstands) {
  Words words = {"-abn", "ls", "-v", "x", "-v=y", "cat", "-b"};
  ASSERT_TRUE(TakeOperands(app_, words).has_value());
  const auto help = ParseFlags(app_, words);
  ASSERT_TRUE(help.has_value()) << help.error().Message();
  EXPECT_FALSE(*help);
  EXPECT_TRUE(all_ && b_);
  EXPECT_EQ(name_, "ls");
}

TEST_F(TakeOperandsTest, HelpIsToldApart) {
  const auto help = ParseFlags(app_, {"-a", "--help"});
  ASSERT_TRUE(help.has_value());
  EXPECT_TRUE(*help);
}

TEST_F(TakeOperandsTest, AnEmptyValueIsRefused) {
  const auto parsed = ParseFlags(app_, {"--name", ""});
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().what, "flag '--name' has an empty value");
}

}  // namespace
}  // namespace plimsoll::cli
