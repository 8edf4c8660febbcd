// The report's two forms, byte for byte.
#include "doctor/report.h"

#include <gtest/gtest.h>

namespace plimsoll::doctor {
namespace {

std::vector<Check> Sample(Answer last) {
  return {{.name = "kernel", .found = "6.12", .cures = {}},
          {.name = "cgroup", .answer = Answer::kWeaker, .found = "none", .cures = {"a\nb", "c"}},
          {.name = "run", .answer = last, .found = "so", .cures = {}}};
}

TEST(ReportText, AlignsChecksAndCures) {
  EXPECT_EQ(ReportText(Sample(Answer::kYes), false),
            "yes     kernel  6.12\n"
            "weaker  cgroup  none\n"
            "                cure:\n"
            "                  a\n"
            "                  b\n"
            "                or:\n"
            "                  c\n"
            "yes     run     so\n"
            "A run works on this host.\n");
}

TEST(ReportText, EndsWithTheVerdict) {
  EXPECT_TRUE(ReportText(Sample(Answer::kNo), false)
                  .ends_with("no      run     so\n"
                             "A run does not work on this host; see what says 'no'.\n"));
}

TEST(ReportText, ColoursOnlyTheAnswersAndOnlyWhenAsked) {
  EXPECT_EQ(ReportText({{.name = "run", .found = "so", .cures = {}}}, true),
            "\033[32myes     \033[0mrun  so\nA run works on this host.\n");
  EXPECT_EQ(ReportText(Sample(Answer::kNo), false).find('\033'), std::string::npos);
}

TEST(ReportJson, HasTheSameMembersInTheSameOrderForEveryCheck) {
  EXPECT_EQ(ReportJson({{.name = "kernel", .found = "6.12", .cures = {}},
                        {.name = "run", .answer = Answer::kNo, .found = "so", .cures = {"a"}}}),
            "{\n"
            "  \"works\": false,\n"
            "  \"checks\": [\n"
            "    {\n"
            "      \"name\": \"kernel\",\n"
            "      \"ok\": \"yes\",\n"
            "      \"found\": \"6.12\",\n"
            "      \"cures\": []\n"
            "    },\n"
            "    {\n"
            "      \"name\": \"run\",\n"
            "      \"ok\": \"no\",\n"
            "      \"found\": \"so\",\n"
            "      \"cures\": [\n"
            "        \"a\"\n"
            "      ]\n"
            "    }\n"
            "  ]\n"
            "}\n");
}

}  // namespace
}  // namespace plimsoll::doctor
