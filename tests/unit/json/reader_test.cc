// The reader's promises: typed access, limits, and errors that say where.
#include "json/reader.h"

#include <gtest/gtest.h>

#include "json/writer.h"

namespace plimsoll::json {
namespace {

Document Good(std::string text) {
  auto document = Parse(std::move(text), "test.json");
  EXPECT_TRUE(document) << document.error().Message();
  return *std::move(document);
}

std::string WhyNot(std::string text, const ReadLimits& limits = {}) {
  const auto document = Parse(std::move(text), "test.json", limits);
  return document ? "" : document.error().Message();
}

TEST(JsonParse, GivesEveryKindOfValueBack) {
  const Document document = Good(R"( {"s":"a\u00e9\n","u":18446744073709551615,"i":-3,"d":1.5,
    "t":true,"n":null,"a":["x",["y"]],"o":{}} )");
  const Value root = document.Root();
  EXPECT_EQ(*root.Member("s")->String(), "a\xC3\xA9\n");
  EXPECT_EQ(*root.Member("u")->Uint(), UINT64_MAX);
  EXPECT_EQ(*root.Member("i")->Int(), -3);
  EXPECT_EQ(*root.Member("d")->Double(), 1.5);
  EXPECT_EQ(*root.Member("i")->Double(), -3.0);
  EXPECT_TRUE(*root.Member("t")->Bool());
  EXPECT_TRUE(root.Member("n")->IsNull());
  EXPECT_EQ(*root.Member("a")->Array()->at(1).Strings(), std::vector<std::string>{"y"});
  EXPECT_TRUE(root.Member("o")->Members()->empty());
  EXPECT_EQ(root.Members()->size(), 8U);
}

TEST(JsonParse, ScalarsAreDocuments) {
  EXPECT_EQ(*Good("\"x\"").Root().String(), "x");
}

TEST(JsonParse, SyntaxErrorsSayWhichByte) {
  EXPECT_EQ(WhyNot(R"({"a":1,})"), "test.json: byte 7: no JSON: syntax error");
}

TEST(JsonParse, RefusesWhatIsNotStrictJson) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":1,}", "// x\n1", "'a'", "01", "NaN", "tru",
                           "\"\xff\"", "\"\\ud800\"", "\"a\tb\"", "{a:1}"}) {
    EXPECT_NE(WhyNot(text), "") << text;
  }
}

TEST(JsonParse, RefusesWhatStandsBehindTheDocument) {
  EXPECT_EQ(WhyNot("{} x"), "test.json: byte 3: something stands behind the end of the document");
  EXPECT_EQ(WhyNot("{} \r\n\t"), "");
}

TEST(JsonParse, RefusesDuplicateMembersUnlessAllowed) {
  const std::string text = R"({"a":1,"b":{"c":1,"c":2}})";
  EXPECT_EQ(WhyNot(text), "test.json: byte 23: an object has the member 'c' twice");
  const auto document = Parse(text, "test.json", {.allow_duplicates = true});
  ASSERT_TRUE(document);
  EXPECT_EQ(*document->Root().Member("b")->Member("c")->Uint(), 2U) << "the last one counts";
}

TEST(JsonParse, RefusesTheEmptyNameTwice) {
  EXPECT_NE(WhyNot(R"({"":1,"":2})"), "");
}

TEST(JsonParse, HoldsItsLimits) {
  EXPECT_EQ(WhyNot("[1,2]", {.bytes = 4}), "test.json: has 5 bytes, more than the 4 allowed");
  EXPECT_EQ(WhyNot("[[[]]]", {.depth = 2}),
            "test.json: byte 2: arrays and objects lie more than 2 deep");
  EXPECT_EQ(WhyNot(std::string(100000, '['), {}),
            "test.json: byte 32: arrays and objects lie more than 32 deep");
}

TEST(JsonValue, ErrorsCarryOffsetAndPointer) {
  const Document document = Good(R"({"config": {"Env": ["A=1", 17], "a/b~c": [] } })");
  const Value config = *document.Root().Member("config");
  EXPECT_EQ(config.Member("Env")->Strings().error().Message(),
            "test.json: byte 27: /config/Env/1: expected a string, found a whole number");
  EXPECT_EQ(config.Member("a/b~c")->Bool().error().Message(),
            "test.json: byte 41: /config/a~1b~0c: expected true or false, found an array");
  EXPECT_EQ(config.Member("Cmd").error().Message(),
            "test.json: byte 11: /config: the member 'Cmd' is missing");
  EXPECT_EQ(document.Root().Array().error().Message(),
            "test.json: byte 0: expected an array, found an object");
}

TEST(JsonValue, NumbersKeepTheirRange) {
  const Document document = Good("[-1, 300, 18446744073709551615, 1e3]");
  const std::vector<Value> items = *document.Root().Array();
  EXPECT_EQ(
      items[0].Uint().error().Message(),
      "test.json: byte 1: /0: expected a whole number from 0 to 18446744073709551615, found -1");
  EXPECT_EQ(items[1].Uint(255).error().Message(),
            "test.json: byte 5: /1: expected a whole number from 0 to 255, found 300");
  EXPECT_FALSE(items[2].Int());
  EXPECT_FALSE(items[3].Uint()) << "1e3 is written as a fraction";
}

TEST(JsonValue, FractionsAreExactAndFinite) {
  EXPECT_EQ(*Good("0.1").Root().Double(), 0.1);
  EXPECT_EQ(*Good("1844674407370955161.5e-300").Root().Double(), 1844674407370955161.5e-300);
  EXPECT_EQ(*Good("9007199254740993.0").Root().Double(), 9007199254740992.0);
  EXPECT_EQ(*Good("1e-999").Root().Double(), 0.0);
  EXPECT_NE(WhyNot("1e999"), "");
  EXPECT_NE(WhyNot("-1e400"), "");
}

TEST(JsonValue, FindTreatsNullAsMissing) {
  const Document document = Good(R"({"a":null,"b":1})");
  EXPECT_FALSE(document.Root().Find("a")->has_value());
  EXPECT_FALSE(document.Root().Find("c")->has_value());
  EXPECT_TRUE(document.Root().Find("b")->has_value());
}

TEST(JsonValue, IsWrittenInTheOneSpellingOfTheWriter) {
  const auto document = Parse("{ \"b\":[1, -2,3.50,true,null,\"\\u0041\\/\"],\n\"a\" : {} }", "x");
  ASSERT_TRUE(document);
  Writer writer;
  document->Root().WriteTo(writer);
  EXPECT_EQ(writer.Text(), R"({"b":[1,-2,3.5,true,null,"A/"],"a":{}})");
}

TEST(JsonValue, UnknownMembersAreNamedWithTheNearest) {
  const Document document = Good(R"({"images":1,"layer":2})");
  const auto checked = document.Root().OnlyMembers({"images", "layers"});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().Message(), "test.json: byte 20: /layer: unknown member 'layer'");
  EXPECT_EQ(checked.error().hint, "did you mean 'layers'?");
}

TEST(JsonValue, NamesFromOutsideCannotDriveATerminal) {
  const Document document = Good(R"({"\u001b[2J":1})");
  EXPECT_EQ(document.Root().Members()->front().second.String().error().Message(),
            "test.json: byte 13: /\\x1b[2J: expected a string, found a whole number");
}

}  // namespace
}  // namespace plimsoll::json
