#include "cli/response.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "json/reader.h"

namespace plimsoll::cli {
namespace {

using result::Cause;
using result::Ran;

plan::SandboxPlan SamplePlan() {
  plan::SandboxPlan plan;
  plan.digest = "ab12";
  plan.limits = {{.name = "pids", .value = "9", .mechanism = "rlimit", .asked = true}};
  return plan;
}

result::RunResult SampleResult() {
  result::RunResult result;
  result.cause = Cause::kExited;
  result.ran = Ran::kYes;
  result.exit_code = 3;
  result.steps = {{.command = "'sh' '-c' 'echo hi'",
                   .exit_code = 3,
                   .out = {.kept = "hi\n", .bytes = 3, .sha256 = "aa", .truncated = false},
                   .err = {.kept = "\xff", .bytes = 9, .sha256 = "bb", .truncated = true}}};
  result.usage = {.wall_ms = 5, .cpu_ms = 4, .peak_memory_bytes = 4096};
  result.limits_hit = {"pids"};
  return result;
}

TEST(RunResponse, OfARunIsTheWholeDocumentInAFixedOrder) {
  const plan::SandboxPlan plan = SamplePlan();
  request::RunRequest request;
  request.trace_id = "t";
  EXPECT_EQ(
      RunResponse({.request = &request, .plan = &plan}, SampleResult()),
      R"({"protocol":2,"sandbox":"native","isolation":"container","environment":"","software_identity":"",)"
      R"("policy":"","trace_id":"t","duration_ms":5,"origin":"guest","ran":"yes","refusal":null,)"
      R"("project":{"outcome":"completed","outcome_detail":"","artifacts_truncated":false,"steps":[)"
      R"({"command":"'sh' '-c' 'echo hi'","exit_code":3,"signal":0,"timed_out":false,"oom":false,)"
      R"("stdout":{"text":"hi\n","bytes":3,"sha256":"aa","truncated":false},)"
      R"("stderr":{"base64":"/w==","bytes":9,"sha256":"bb","truncated":true}}],"artifacts":[],"artifacts_missing":[]},)"
      R"("limits":[{"name":"pids","value":"9","mechanism":"rlimit","hit":true}],)"
      R"("usage":{"cpu_ms":4,"peak_memory_bytes":4096,"wall_ms":5},)"
      R"("confinement":{"plan":"sha256:ab12","program":""}})"
      "\n");
}

TEST(RunResponse, HoldsArtifactsAsTextOrBase64AndSaysWhichAreMissing) {
  result::RunResult result = SampleResult();
  result.artifacts = {{.path = "a", .content = "hi"}, {.path = "b", .content = "\xff"}};
  result.missing_artifacts = {{.path = "c", .reason = "it is large", .too_large = true}};
  const std::string response = RunResponse({}, result);
  EXPECT_NE(response.find(R"("artifacts_truncated":true)"), std::string::npos) << response;
  EXPECT_NE(
      response.find(
          R"("artifacts":[{"path":"a","bytes":2,"sha256":)"
          R"("8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4","text":"hi"},)"
          R"({"path":"b","bytes":1,"sha256":)"
          R"("a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89","base64":"/w=="}],)"
          R"("artifacts_missing":[{"path":"c","reason":"it is large"}])"),
      std::string::npos)
      << response;
}

TEST(RunResponse, OfARefusalNamesReasonAndHintAndHasNoStep) {
  result::RunResult result;
  result.error = Error{.kind = ErrorKind::kPermission, .what = "no", .hint = "do this"};
  const auto document = json::Parse(RunResponse({}, result), "response");
  ASSERT_TRUE(document.has_value());
  const json::Value root = document->Root();
  EXPECT_EQ(*root.Member("origin")->String(), "runner");
  EXPECT_EQ(*root.Member("ran")->String(), "no");
  const json::Value refusal = *root.Member("refusal");
  EXPECT_EQ(*refusal.Member("reason")->String(), "permission");
  EXPECT_EQ(*refusal.Member("message")->String(), "no");
  EXPECT_EQ(*refusal.Member("hint")->String(), "do this");
  const json::Value project = *root.Member("project");
  EXPECT_EQ(*project.Member("outcome")->String(), "setup_failed");
  EXPECT_TRUE(project.Member("steps")->Array()->empty());
}

TEST(RefusalResponse, IsTheRefusalOfARunAndNothingElse) {
  const Error error = {.kind = ErrorKind::kEnvironment, .what = "no image \"x\"", .hint = "look"};
  EXPECT_EQ(RefusalResponse(error),
            R"({"refusal":{"reason":"environment","message":"no image \"x\"","hint":"look"}})"
            "\n");
}

struct Row {
  const char* name;
  Cause cause;
  const char* outcome;
  const char* origin;
};

TEST(RunResponse, TellsEachCauseApart) {
  const std::vector<Row> rows = {
      {"signal", Cause::kSignalled, "completed", "guest"},
      {"time limit", Cause::kTimedOut, "timed_out", "runner"},
      {"memory limit", Cause::kOutOfMemory, "completed", "runner"},
      {"a later step that cannot be executed", Cause::kNotExecuted, "completed", "runner"},
      {"a later step that cannot be set up", Cause::kSetupFailed, "setup_failed", "runner"},
  };
  for (const Row& row : rows) {
    result::RunResult result = SampleResult();
    result.cause = row.cause;
    const auto document = json::Parse(RunResponse({}, result), "response");
    ASSERT_TRUE(document.has_value()) << row.name;
    const json::Value root = document->Root();
    EXPECT_EQ(*root.Member("origin")->String(), row.origin) << row.name;
    EXPECT_EQ(*root.Member("project")->Member("outcome")->String(), row.outcome) << row.name;
  }
}

TEST(RunResponse, OfARunThatNeverBeganIsAFailedSetUpWhateverEndedIt) {
  result::RunResult result;
  result.cause = Cause::kTimedOut;
  result.detail = "the run exceeded its time budget before step 1 began";
  const auto document = json::Parse(RunResponse({}, result), "response");
  ASSERT_TRUE(document.has_value());
  const json::Value project = *document->Root().Member("project");
  EXPECT_EQ(*project.Member("outcome")->String(), "setup_failed");
  EXPECT_EQ(*project.Member("outcome_detail")->String(), result.detail);
}

TEST(RunResponse, OfACommandThatCouldNotBeRunHasNoRefusal) {
  result::RunResult result;
  result.cause = Cause::kNotExecuted;
  result.exit_code = 127;
  result.error = Error{.kind = ErrorKind::kRequest, .what = "execute 'x'", .sys_errno = ENOENT};
  const auto document = json::Parse(RunResponse({}, result), "response");
  ASSERT_TRUE(document.has_value());
  EXPECT_TRUE(document->Root().Member("refusal")->IsNull());
  EXPECT_EQ(*document->Root().Member("project")->Member("outcome_detail")->String(),
            "execute 'x': No such file or directory (ENOENT)");
}

}  // namespace
}  // namespace plimsoll::cli
