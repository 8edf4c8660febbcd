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
  plan.command = {"sh", "-c", "echo hi"};
  plan.limits = {{.name = "pids", .value = "9", .mechanism = "rlimit", .asked = true}};
  return plan;
}

result::RunResult SampleResult() {
  result::RunResult result;
  result.cause = Cause::kExited;
  result.ran = Ran::kYes;
  result.exit_code = 3;
  result.out = {.kept = "hi\n", .bytes = 3, .sha256 = "aa", .truncated = false};
  result.err = {.kept = "\xff", .bytes = 9, .sha256 = "bb", .truncated = true};
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
      R"({"command":"sh -c 'echo hi'","exit_code":3,"signal":0,"timed_out":false,"oom":false,)"
      R"("stdout":{"text":"hi\n","bytes":3,"sha256":"aa","truncated":false},)"
      R"("stderr":{"base64":"/w==","bytes":9,"sha256":"bb","truncated":true}}],"artifacts":[]},)"
      R"("limits":[{"name":"pids","value":"9","mechanism":"rlimit","hit":true}],)"
      R"("usage":{"cpu_ms":4,"peak_memory_bytes":4096,"wall_ms":5},)"
      R"("confinement":{"plan":"sha256:ab12","program":""}})"
      "\n");
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
  int signal;
  const char* outcome;
  const char* origin;
  std::uint64_t exit_code;
};

TEST(RunResponse, TellsEachCauseApart) {
  const std::vector<Row> rows = {
      {"signal", Cause::kSignalled, 9, "completed", "guest", 137},
      {"time limit", Cause::kTimedOut, 15, "timed_out", "runner", 124},
      {"memory limit", Cause::kOutOfMemory, 9, "completed", "runner", 137},
  };
  const plan::SandboxPlan plan = SamplePlan();
  for (const Row& row : rows) {
    result::RunResult result = SampleResult();
    result.cause = row.cause;
    result.signal = row.signal;
    const auto document = json::Parse(RunResponse({.plan = &plan}, result), "response");
    ASSERT_TRUE(document.has_value()) << row.name;
    const json::Value root = document->Root();
    const json::Value project = *root.Member("project");
    const json::Value step = (*project.Member("steps")->Array())[0];
    EXPECT_EQ(*root.Member("origin")->String(), row.origin) << row.name;
    EXPECT_EQ(*project.Member("outcome")->String(), row.outcome) << row.name;
    EXPECT_EQ(*step.Member("exit_code")->Uint(), row.exit_code) << row.name;
    EXPECT_EQ(*step.Member("timed_out")->Bool(), row.cause == Cause::kTimedOut) << row.name;
    EXPECT_EQ(*step.Member("oom")->Bool(), row.cause == Cause::kOutOfMemory) << row.name;
  }
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
