#include "request/run_request.h"

#include <gtest/gtest.h>

#include <set>

namespace plimsoll::request {
namespace {

std::string Shell(std::string text) {
  return CommandText({.shell = std::move(text)});
}

std::string Vector(std::vector<std::string> words) {
  return CommandText({.shell = {}, .arguments = std::move(words)});
}

TEST(CommandText, OfAShellCommandIsTheCommand) {
  for (const char* text : {"echo hi", "  echo 'a b'", "a'b'", "\t'x'", "   "}) {
    EXPECT_EQ(Shell(text), text);
  }
}

TEST(CommandText, OfAVectorHasEveryWordInQuotes) {
  EXPECT_EQ(Vector({"echo", "hi"}), "'echo' 'hi'");
  EXPECT_EQ(Vector({"a b", "it's", "", "-x"}), R"('a b' 'it'\''s' '' '-x')");
}

TEST(CommandText, IsNeverSharedByAShellCommandAndAVector) {
  const std::string vector = Vector({"echo", "hi"});
  std::string shell = vector;
  std::set<std::string> texts = {vector};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(texts.insert(Shell(shell)).second) << shell;
    shell.insert(0, " ");
  }
  EXPECT_EQ(Shell("'echo' 'hi'"), " 'echo' 'hi'");
  EXPECT_EQ(Shell(" 'echo' 'hi'"), "  'echo' 'hi'");
}

TEST(CleanRelativePath, TakesWhatStaysBelow) {
  EXPECT_EQ(CleanRelativePath("a"), "a");
  EXPECT_EQ(CleanRelativePath("./a//b/./c/"), "a/b/c");
  EXPECT_EQ(CleanRelativePath("..a/b.."), "..a/b..");
}

TEST(CleanRelativePath, RefusesWhatDoesNot) {
  const std::string longest(RequestLimits{}.path_bytes, 'a');
  EXPECT_EQ(CleanRelativePath(longest), longest);
  for (const std::string& path :
       {std::string(), std::string("."), std::string("/a"), std::string(".."),
        std::string("a/../b"), std::string("a/.."), std::string("a\0b", 3), longest + "a"}) {
    EXPECT_EQ(CleanRelativePath(path), std::nullopt) << path;
  }
}

TEST(CheckSoftwareRule, AllowsWhatItNames) {
  using Mode = SoftwareRule::Mode;
  EXPECT_TRUE(CheckSoftwareRule({}, "x").has_value());
  EXPECT_TRUE(CheckSoftwareRule({.mode = Mode::kExact, .identities = {"x"}}, "x").has_value());
  EXPECT_TRUE(
      CheckSoftwareRule({.mode = Mode::kApproved, .identities = {"a", "x"}}, "x").has_value());
  const auto exact = CheckSoftwareRule({.mode = Mode::kExact, .identities = {"a"}}, "x");
  ASSERT_FALSE(exact.has_value());
  EXPECT_EQ(exact.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(exact.error().what, "the request's software rule does not allow the image x");
  EXPECT_EQ(exact.error().hint, "it demands 'a'");
  EXPECT_FALSE(
      CheckSoftwareRule({.mode = Mode::kApproved, .identities = {"a", "b"}}, "x").has_value());
}

}  // namespace
}  // namespace plimsoll::request
