#include "request/parse.h"

#include <gtest/gtest.h>

namespace plimsoll::request {
namespace {

using std::chrono_literals::operator""ms;

// A document with `project` as the members of its project, and `more` members beside it.
std::string Document(const std::string& project, const std::string& more = {}) {
  return R"({"protocol":2)" + more + R"(,"project":{)" + project + "}}";
}

RunRequest Good(const std::string& text) {
  auto request = Parse(text, "r.json");
  EXPECT_TRUE(request.has_value()) << request.error().Message();
  return request ? *std::move(request) : RunRequest{};
}

// The complaint behind "r.json: byte N: ".
std::string Complaint(const std::string& text) {
  const auto request = Parse(text, "r.json");
  if (request) return "none";
  const std::string& what = request.error().what;
  EXPECT_TRUE(what.starts_with("r.json: byte ")) << what;
  return what.substr(what.find(": ", 8) + 2);
}

std::string Items(std::size_t count, const std::string& item) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? "" : ",") + item;
  return "[" + text + "]";
}

TEST(ParseRequest, OfOneStepKeepsEveryDefault) {
  const RunRequest request = Good(Document(R"("steps":["true"])"));
  ASSERT_EQ(request.steps.size(), 1U);
  EXPECT_EQ(request.steps[0].shell, "true");
  EXPECT_EQ(request.image + request.caller + request.trace_id, "");
  EXPECT_EQ(request.workdir, "/work");
  EXPECT_TRUE(request.files.empty() && request.artifacts.empty() && request.volumes.empty());
  EXPECT_EQ(request.limits.timeout, std::nullopt);
  EXPECT_EQ(request.floor, std::nullopt);
  EXPECT_EQ(request.software_rule.mode, SoftwareRule::Mode::kAny);
  EXPECT_TRUE(request.json);
}

TEST(ParseRequest, ReadsEveryMember) {
  const RunRequest request = Good(Document(
      R"("grant_profile":["g"],"files":[{"path":"./a/b","text":"x"},)"
      R"({"path":"c","base64":"AP8=","executable":true}],"steps":["one",{"argv":["two","it"]}],)"
      R"("artifacts":["out/"],"env":{"A":"1","B":""},"workdir":"/work","user":"u:g",)"
      R"("limits":{"kill_after_ms":0,"cpu_time_ms":9,"memory_bytes":65536,"pids":3,"cpus":1.5,)"
      R"("tmpfs_bytes":1048576,"output_bytes":7,"require":true},)"
      R"("mounts":[{"source":"/s","destination":"/d","writable":true}])",
      R"(,"minimum_isolation":"container","timeout_ms":1500,"trace_id":"t","image":"i",)"
      R"("caller":"c","software_rule":{"mode":"approved","identities":["x","y"]})"));
  EXPECT_EQ(request.grant_profile, std::vector<std::string>{"g"});
  ASSERT_EQ(request.files.size(), 2U);
  EXPECT_EQ(request.files[0].path + "|" + request.files[0].content, "a/b|x");
  EXPECT_EQ(request.files[0].mode, 0644U);
  EXPECT_EQ(request.files[1].content, std::string("\0\xff", 2));
  EXPECT_EQ(request.files[1].mode, 0755U);
  ASSERT_EQ(request.steps.size(), 2U);
  EXPECT_EQ(request.steps[1].arguments, (std::vector<std::string>{"two", "it"}));
  ASSERT_EQ(request.artifacts.size(), 1U);
  EXPECT_EQ(request.artifacts[0].path, "out");
  EXPECT_EQ(request.environment.size(), 2U);
  EXPECT_EQ(request.user.user + ":" + request.user.group, "u:g");
  EXPECT_EQ(request.limits.kill_after, 0ms);
  EXPECT_EQ(request.limits.cpu_time, 9ms);
  EXPECT_EQ(request.limits.timeout, 1500ms);
  EXPECT_EQ(request.limits.pids, 3U);
  EXPECT_EQ(request.limits.cpus, 1.5);
  EXPECT_EQ(request.output_limit, 7U);
  EXPECT_TRUE(request.limits.require);
  ASSERT_EQ(request.volumes.size(), 1U);
  EXPECT_TRUE(request.volumes[0].writable);
  EXPECT_EQ(request.floor, Tier::kContainer);
  EXPECT_EQ(request.trace_id + request.image + request.caller, "tic");
  EXPECT_EQ(request.software_rule.identities.size(), 2U);
}

TEST(ParseRequest, TakesTheFormWithEveryDefaultWrittenOut) {
  const RunRequest request =
      Good(Document(R"("steps":["x"],"workdir":"","user":"")",
                    R"(,"minimum_isolation":"","timeout_ms":0,"trace_id":"",)"
                    R"("software_rule":{"mode":"","identities":[]},"image":"","caller":"")"));
  EXPECT_EQ(request.limits.timeout, std::nullopt);
  EXPECT_EQ(request.floor, std::nullopt);
}

TEST(ParseRequest, NamesThePlaceOfWhatIsWrong) {
  struct Row {
    std::string text;
    std::string complaint;
  };
  const std::vector<Row> rows = {
      {"{}", "the member 'protocol' is missing"},
      {R"({"protocol":1})", "/protocol: expected 2, the only version, found 1"},
      {R"({"protocol":2})", "the member 'project' is missing"},
      {R"({"protocol":2,"protocol":2})", "an object has the member 'protocol' twice"},
      {Document(R"("steps":["x"],"stepz":1)"), "/project/stepz: unknown member 'stepz'"},
      {Document(R"("steps":["x"])", R"(,"kind":"module")"), "/kind: unknown member 'kind'"},
      {Document(""), "/project: the member 'steps' is missing"},
      {Document(R"("steps":[])"), "/project/steps: expected at least one step"},
      {Document(R"("steps":)" + Items(21, R"("x")")),
       "/project/steps: expected at most 20 items, found 21"},
      {Document(R"("steps":[""])"),
       "/project/steps/0: expected a shell command of 1 to 131071 bytes"},
      {Document(R"("steps":["a\u0000b"])"), "/project/steps/0: has a NUL byte"},
      {Document(R"("steps":[["x"]])"),
       "/project/steps/0: expected a shell command, or an object with the member 'argv'"},
      {Document(R"("steps":["x",{"argv":[]}])"),
       "/project/steps/1/argv: expected a program, and its arguments"},
      {Document(R"("steps":[{"argv":["x"],"shell":true}])"),
       "/project/steps/0/shell: unknown member 'shell'"},
      {Document(R"("steps":["x"],"files":[{"path":"/etc/passwd","text":""}])"),
       "/project/files/0/path: expected a relative path without '..', of at most 1024 bytes, "
       "found '/etc/passwd'"},
      {Document(R"("steps":["x"],"files":[{"path":"a/../../b","text":""}])"),
       "/project/files/0/path: expected a relative path without '..', of at most 1024 bytes, "
       "found 'a/../../b'"},
      {Document(R"("steps":["x"],"files":[{"path":"a","text":"","base64":""}])"),
       "/project/files/0: expected either a member 'text' or a member 'base64'"},
      {Document(R"("steps":["x"],"files":[{"path":"a"}])"),
       "/project/files/0: expected either a member 'text' or a member 'base64'"},
      {Document(R"("steps":["x"],"files":[{"path":"a","base64":"AP8"}])"),
       "/project/files/0/base64: expected standard base64 with padding"},
      {Document(R"("steps":["x"],"files":[{"path":"a","text":""},{"path":"./a","text":""}])"),
       "/project/files/1: the file 'a' is given twice"},
      {Document(R"("steps":["x"],"artifacts":["a","a/"])"),
       "/project/artifacts/1: the artifact 'a' is given twice"},
      {Document(R"("steps":["x"],"artifacts":)" + Items(65, R"("x")")),
       "/project/artifacts: expected at most 64 items, found 65"},
      {Document(R"("steps":["x"],"files":)" + Items(257, R"({"path":"a","text":""})")),
       "/project/files: expected at most 256 items, found 257"},
      {Document(R"("steps":["x"],"env":{"A=B":"x"})"),
       "/project/env/A=B: this is no name of a variable"},
      {Document(R"("steps":["x"],"env":{"A":1})"),
       "/project/env/A: expected a string, found a whole number"},
      {Document(R"("steps":["x"],"workdir":"work")"),
       "/project/workdir: expected an absolute path"},
      {Document(R"("steps":["x"],"user":"a:")"), "/project/user: expected USER or USER:GROUP"},
      {Document(R"("steps":["x"],"limits":{"pids":0})"),
       "/project/limits/pids: expected at least 1, found 0"},
      {Document(R"("steps":["x"],"limits":{"memory_bytes":1})"),
       "/project/limits/memory_bytes: expected at least 65536, found 1"},
      {Document(R"("steps":["x"],"limits":{"cpus":0})"),
       "/project/limits/cpus: expected a number of processors, such as 1.5"},
      {Document(R"("steps":["x"],"mounts":[{"source":"s","destination":"/d"}])"),
       "/project/mounts/0/source: expected an absolute path"},
      {Document(R"("steps":["x"])", R"(,"timeout_ms":-1)"),
       "/timeout_ms: expected a whole number from 0 to 31536000000, found -1"},
      {Document(R"("steps":["x"])", R"(,"minimum_isolation":"strong")"),
       "/minimum_isolation: expected process, container, kernel or vm"},
      {Document(R"("steps":["x"])", R"(,"trace_id":"a b")"),
       "/trace_id: expected 1 to 64 of A-Z a-z 0-9 . _ : -"},
      {Document(R"("steps":["x"])", R"(,"software_rule":{"mode":"exact","identities":["a","b"]})"),
       "/software_rule: expected mode \"exact\" and one identity, \"approved\" and some, or \"\""},
      {Document(R"("steps":["x"])", R"(,"software_rule":{"identities":["a"]})"),
       "/software_rule: expected mode \"exact\" and one identity, \"approved\" and some, or \"\""},
      {Document(R"("steps":["x"],"grant_profile":[""])"),
       "/project/grant_profile/0: expected 1 to 256 bytes"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(Complaint(row.text), row.complaint);
}

TEST(ParseRequest, TakesAsManyStepsFilesAndArtifactsAsThereMayBe) {
  EXPECT_EQ(Good(Document(R"("steps":)" + Items(20, R"("x")"))).steps.size(), 20U);
  std::string files;
  for (int i = 0; i < 256; ++i)
    files += (i == 0 ? "" : ",") + (R"({"path":")" + std::to_string(i)) + R"(","text":""})";
  EXPECT_EQ(Good(Document(R"("steps":["x"],"files":[)" + files + "]")).files.size(), 256U);
}

TEST(ParseRequest, RefusesFilesThatAreTooLargeTogether) {
  const std::string half((RequestLimits{}.file_bytes) / 2, 'x');
  const std::string files =
      R"("files":[{"path":"a","text":")" + half + R"("},{"path":"b","text":")" + half + R"("})";
  EXPECT_EQ(Good(Document(R"("steps":["x"],)" + files + "]")).files.size(), 2U);
  EXPECT_EQ(Complaint(Document(R"("steps":["x"],)" + files + R"(,{"path":"c","text":"x"}])")),
            "/project/files: the files have more than 67108864 bytes together");
}

}  // namespace
}  // namespace plimsoll::request
