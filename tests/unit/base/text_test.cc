#include "base/text.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(Quote, ShowsPlainTextAndUtf8AsTheyAre) {
  EXPECT_EQ(Quote("a b/c.d"), "'a b/c.d'");
  EXPECT_EQ(Quote("gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\xa2"), "'gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\xa2'");
  EXPECT_EQ(Quote(""), "''");
}

TEST(Quote, EscapesWhatCouldDriveATerminalOrEndTheQuotes) {
  EXPECT_EQ(Quote(std::string_view("\x1b[2J\n\0\x7f", 7)), "'\\x1b[2J\\x0a\\x00\\x7f'");
  EXPECT_EQ(Quote("a'b\\c"), "'a\\x27b\\x5cc'");
  EXPECT_EQ(Quote("\xc2\x9b"), "'\\xc2\\x9b'") << "a C1 control sequence introducer";
}

TEST(Quote, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(Quote("\xff\xc3"), "'\\xff\\xc3'");
  EXPECT_EQ(Quote("\xc0\xaf"), "'\\xc0\\xaf'") << "overlong";
  EXPECT_EQ(Quote("\xed\xa0\x80"), "'\\xed\\xa0\\x80'") << "a surrogate";
}

TEST(Quote, CutsLongTexts) {
  EXPECT_EQ(Quote("abcdef", 3), "'abc'...");
  EXPECT_EQ(Quote("abc", 3), "'abc'");
}

TEST(ShellQuote, LeavesSafeWordsBare) {
  EXPECT_EQ(ShellQuote("/usr/bin/a-b_c.1,x=y@z:%+"), "/usr/bin/a-b_c.1,x=y@z:%+");
}

TEST(ShellQuote, QuotesEverythingElse) {
  EXPECT_EQ(ShellQuote(""), "''");
  EXPECT_EQ(ShellQuote("a b"), "'a b'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuote("$(x)"), "'$(x)'");
  EXPECT_EQ(ShellQuote("~"), "'~'");
}

TEST(ShellJoin, TellsAVectorFromAScript) {
  EXPECT_EQ(ShellJoin({"sh", "-c", "echo a b"}), "sh -c 'echo a b'");
  EXPECT_EQ(ShellJoin({"echo", "a", "b"}), "echo a b");
  EXPECT_EQ(ShellJoin({}), "");
}

TEST(Split, KeepsEmptyParts) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(Split("", ':'), (Parts{""}));
  EXPECT_EQ(Split("a", ':'), (Parts{"a"}));
  EXPECT_EQ(Split(":a::b:", ':'), (Parts{"", "a", "", "b", ""}));
}

TEST(ParseUint, TakesWholeNumbersInRangeOnly) {
  EXPECT_EQ(ParseUint("0"), 0U);
  EXPECT_EQ(ParseUint("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(ParseUint("42", 42), 42U);
  for (const char* text :
       {"", " 1", "1 ", "+1", "-1", "1.0", "0x1", "18446744073709551616", "1a"}) {
    EXPECT_EQ(ParseUint(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseUint("43", 42), std::nullopt);
}

TEST(IsUtf8, FollowsTheStandardAndNothingLooser) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8(std::string_view("a\0\xc3\xa9\xe2\x82\xac\xf0\x90\x8d\x88", 11)));
  for (const char* text : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "a\xff"}) {
    EXPECT_FALSE(IsUtf8(text)) << Quote(text);
  }
}

TEST(Hex, IsLowerCaseAndTwoDigitsAByte) {
  EXPECT_EQ(Hex(std::string_view("\0\x0f\xff", 3)), "000fff");
}

TEST(Base64, PadsAsTheStandardSays) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foob"), "Zm9vYg==");
  EXPECT_EQ(Base64("\xfb\xff\xfe"), "+//+");
}

TEST(DecodeBase64, ReadsWhatBase64Wrote) {
  std::string bytes;
  for (int size = 0; size < 300; ++size) {
    EXPECT_EQ(DecodeBase64(Base64(bytes)), bytes);
    bytes += static_cast<char>(size * 7);
  }
}

TEST(DecodeBase64, RefusesEveryOtherTextForTheSameBytes) {
  for (const std::string_view text : {"Zg=", "Zg", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==",
                                      "Zm 8", "Zm9v\n", "Zm-_", "Zm9v=", "=Zm9"}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

TEST(Nearest, FindsTypingErrorsAndNothingElse) {
  const std::vector<std::string_view> flags = {"--memory", "--timeout", "--json", "--cpus"};
  EXPECT_EQ(Nearest("--memroy", flags), "--memory");
  EXPECT_EQ(Nearest("--jsn", flags), "--json");
  EXPECT_EQ(Nearest("--quite-different", flags), "");
  EXPECT_EQ(Nearest("", flags), "");
  EXPECT_EQ(Nearest("x", {}), "");
}

TEST(DidYouMean, QuotesTheNearestAndIsEmptyWithoutOne) {
  EXPECT_EQ(DidYouMean("exce", {"exec", "plan"}), "did you mean 'exec'?");
  EXPECT_EQ(DidYouMean("image", {"exec", "plan"}), "");
}

TEST(Number, IsWrittenAsInC) {
  EXPECT_EQ(Number(0), "0");
  EXPECT_EQ(Number(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(Number(UINT64_MAX, 16), "0xffffffffffffffff");
  EXPECT_EQ(Number(0644, 8), "0644");
}

}  // namespace
}  // namespace plimsoll
