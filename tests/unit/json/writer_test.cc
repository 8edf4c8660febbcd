// What the writer writes, byte for byte, and that the reader reads it back.
#include "json/writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "json/reader.h"

namespace plimsoll::json {
namespace {

void WriteSample(Writer& writer) {
  writer.BeginObject().Member("name", "x").Member("ok", true).Key("list").BeginArray();
  writer.Uint(1).BeginObject().EndObject().BeginArray().EndArray().Null().EndArray();
  writer.Member("size", std::uint64_t{7}).Key("words").Strings({"a", "b"}).EndObject();
}

TEST(JsonWriter, KeepsMembersInOrderOnOneLine) {
  Writer writer;
  WriteSample(writer);
  EXPECT_EQ(writer.Text(),
            R"({"name":"x","ok":true,"list":[1,{},[],null],"size":7,"words":["a","b"]})");
}

TEST(JsonWriter, IndentsByTwoBlanks) {
  Writer writer(Writer::Style::kIndented);
  writer.BeginObject().Member("a", 1U).Key("b").BeginArray().Int(-2).EndArray();
  writer.Key("c").BeginObject().EndObject().EndObject();
  EXPECT_EQ(writer.Take(), "{\n  \"a\": 1,\n  \"b\": [\n    -2\n  ],\n  \"c\": {}\n}");
}

TEST(JsonWriter, EscapesWhatJsonAndTerminalsNeed) {
  Writer writer;
  writer.String(std::string_view("\"\\/\b\f\n\r\t\0\x1b\x7f\xC3\xA9", 13));
  EXPECT_EQ(writer.Text(), "\"\\\"\\\\/\\u0008\\u000c\\n\\r\\t\\u0000\\u001b\\u007f\xC3\xA9\"");
}

TEST(JsonWriter, NumbersReadBackTheSame) {
  Writer writer;
  writer.BeginArray().Uint(UINT64_MAX).Int(INT64_MIN).Double(0.1).Double(1e300);
  writer.Double(std::numeric_limits<double>::infinity()).EndArray();
  EXPECT_EQ(writer.Text(), "[18446744073709551615,-9223372036854775808,0.1,1e+300,null]");
}

TEST(JsonWriter, EveryByteSurvivesWriterAndReader) {
  std::string text;
  for (int byte = 0; byte < 0x80; ++byte)
    text += static_cast<char>(byte);
  Writer writer;
  writer.BeginObject().Member(text, text).EndObject();
  const auto document = Parse(writer.Take(), "again");
  ASSERT_TRUE(document) << document.error().Message();
  const auto members = document->Root().Members();
  EXPECT_EQ(members->front().first, text);
  EXPECT_EQ(*members->front().second.String(), text);
}

TEST(JsonWriter, TextsThatAreNoUtf8ReadAsHexAndTheDocumentIsUtf8) {
  Writer writer;
  writer.BeginArray()
      .String(
          "a\xff"
          "b")
      .String("\xc3")
      .String("\xed\xa0\x80")
      .String("\xC3\xA9")
      .EndArray();
  EXPECT_EQ(writer.Text(), R"(["a\\xffb","\\xc3","\\xed\\xa0\\x80",")"
                           "\xC3\xA9\"]");
}

TEST(JsonWriter, BytesThatAreNoUtf8StandInASecondMember) {
  Writer writer;
  writer.BeginObject().BytesMember("a", "text").BytesMember("b", "\xff").EndObject();
  EXPECT_EQ(writer.Text(), R"({"a":"text","b":"\\xff","b_base64":"/w=="})");
}

TEST(JsonWriter, TakeLeavesAnEmptyWriter) {
  Writer writer;
  writer.BeginArray().EndArray();
  EXPECT_EQ(writer.Take(), "[]");
  writer.BeginObject().Member("a", false).EndObject();
  EXPECT_EQ(writer.Take(), R"({"a":false})");
}

}  // namespace
}  // namespace plimsoll::json
