// Bytes that the writer makes are read back by the reader, and checked by init's own view.

#include "plan/plan_writer.h"

#include <gtest/gtest.h>

#include "plan/plan_reader.h"

namespace plimsoll::plan {
namespace {

using init::Phase;
using init::StepKind;

std::string SampleBytes() {
  PlanWriter writer;
  writer.Add({.phase = Phase::kLaunch, .kind = StepKind::kIdMap, .text = {"1 2 1\n", "3 4 1\n"}});
  writer.Add({.phase = Phase::kInit,
              .kind = StepKind::kWriteFile,
              .text = {"passwd"},
              .blob = std::string("a\0b", 3),
              .number = {0644}});
  writer.Add({.phase = Phase::kGuest, .kind = StepKind::kWorkingDirectory, .text = {"passwd"}});
  return writer.Finish();
}

TEST(PlanWriter, IsReadBackByTheReader) {
  const std::string bytes = SampleBytes();
  const std::vector<StepView> steps = ReadSteps(bytes);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].text[0], "1 2 1\n");
  EXPECT_EQ(steps[0].text[1], "3 4 1\n");
  EXPECT_EQ(steps[0].text[2], "");
  EXPECT_EQ(steps[1].kind, StepKind::kWriteFile);
  EXPECT_EQ(steps[1].blob, std::string_view("a\0b", 3));
  EXPECT_EQ(steps[1].number[0], 0644U);
  EXPECT_EQ(steps[2].phase, Phase::kGuest);
  EXPECT_EQ(steps[2].text[0].data(), steps[1].text[0].data()) << "equal texts share their place";
}

TEST(PlanWriter, GivesTheSameBytesForTheSameSteps) {
  EXPECT_EQ(SampleBytes(), SampleBytes());
}

TEST(PlanWriter, WritesAnEmptyPlan) {
  EXPECT_TRUE(ReadSteps(PlanWriter().Finish()).empty());
}

TEST(Describe, SaysAllOfAStepInOneLine) {
  const std::string bytes = SampleBytes();
  const std::vector<StepView> steps = ReadSteps(bytes);
  EXPECT_EQ(Describe(steps[0]), "deny setgroups, map uid '1 2 1' and gid '3 4 1'");
  EXPECT_EQ(Describe(steps[1]),
            "write scratch file 'passwd' mode 0644: 3 bytes, "
            "sha256:59b271ae1bbcb1d31d41929817f4b16fb439eb4f31520b5ad1d5ce98920a7138");
  EXPECT_EQ(Describe(steps[2]), "change to directory 'passwd'");
}

TEST(DumpJson, ListsEveryStep) {
  const std::string bytes = SampleBytes();
  const std::string json = DumpJson(bytes, "ab");
  EXPECT_NE(json.find("\"digest\": \"sha256:ab\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"kind\": \"working-directory\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"phase\": \"guest\""), std::string::npos) << json;
}

}  // namespace
}  // namespace plimsoll::plan
