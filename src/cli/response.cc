#include "cli/response.h"

#include <algorithm>

#include "base/text.h"
#include "cli/refused_calls.h"
#include "crypto/sha256.h"
#include "json/writer.h"

namespace plimsoll::cli {
namespace {

using result::Cause;

constexpr std::string_view RanName(result::Ran ran) {
  switch (ran) {
    case result::Ran::kYes:
      return "yes";
    case result::Ran::kNo:
      return "no";
    case result::Ran::kUnknown:
      return "unknown";
  }
  return "unknown";
}

// Who ended the run: the guest by itself, or the runner at a limit or a failure.
constexpr std::string_view OriginName(Cause cause) {
  return cause == Cause::kExited || cause == Cause::kSignalled ? "guest" : "runner";
}

// A text that was cut in the middle of a character is no UTF-8 either, and reads back as base64.
void WriteContent(json::Writer& writer, const std::string& bytes) {
  const bool is_text = IsUtf8(bytes);
  writer.Member(is_text ? "text" : "base64", is_text ? bytes : Base64(bytes));
}

void WriteStream(json::Writer& writer, std::string_view name, const result::Stream& stream) {
  writer.Key(name).BeginObject();
  WriteContent(writer, stream.kept);
  writer.Member("bytes", stream.bytes);
  writer.Member("sha256", stream.sha256);
  writer.Member("truncated", stream.truncated);
  writer.EndObject();
}

void WriteStep(json::Writer& writer, const result::Step& step) {
  writer.BeginObject();
  writer.BytesMember("command", step.command);
  writer.Member("exit_code", step.exit_code);
  writer.Member("signal", step.signal);
  writer.Member("timed_out", step.timed_out);
  writer.Member("oom", step.oom);
  WriteStream(writer, "stdout", step.out);
  WriteStream(writer, "stderr", step.err);
  writer.EndObject();
}

void WriteArtifacts(json::Writer& writer, const result::RunResult& result) {
  writer.Key("artifacts").BeginArray();
  for (const result::Artifact& artifact : result.artifacts) {
    writer.BeginObject();
    writer.BytesMember("path", artifact.path);
    writer.Member("bytes", artifact.content.size());
    writer.Member("sha256", crypto::Sha256HexOf(artifact.content));
    WriteContent(writer, artifact.content);
    writer.EndObject();
  }
  writer.EndArray();
  writer.Key("artifacts_missing").BeginArray();
  for (const result::MissingArtifact& missing : result.missing_artifacts) {
    writer.BeginObject();
    writer.BytesMember("path", missing.path);
    writer.Member("reason", missing.reason);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteProject(json::Writer& writer, const result::RunResult& result) {
  writer.Key("project").BeginObject();
  writer.Member("outcome", result::OutcomeName(result::OutcomeOf(result)));
  writer.Member("outcome_detail", result::OutcomeDetail(result));
  writer.Member("artifacts_truncated", result::ArtifactsTruncated(result));
  writer.Key("steps").BeginArray();
  for (const result::Step& step : result.steps)
    WriteStep(writer, step);
  writer.EndArray();
  WriteArtifacts(writer, result);
  writer.EndObject();
}

void WriteError(json::Writer& writer, const Error& error) {
  writer.BeginObject();
  writer.Member("reason", ReasonName(error.kind));
  writer.Member("message", error.Message());
  writer.Member("hint", error.hint);
  writer.EndObject();
}

void WriteRefusal(json::Writer& writer, const result::RunResult& result) {
  writer.Key("refusal");
  if (result.cause == Cause::kSetupFailed && result.error) {
    WriteError(writer, *result.error);
  } else {
    writer.Null();
  }
}

// Whether nobody could have missed that the limit was hit: it is the runner's own clock, its own
// reading, its own sum (then it ended the run), or the kernel that reports it. The others are
// looked at now and then: the kernel may have refused a file or a process in between.
bool IsSeenWhenHit(const plan::Limit& limit) {
  return limit.mechanism == "timer" || limit.mechanism == "runner" || limit.name == "cpu-time" ||
         (limit.name == "memory" && limit.mechanism == "cgroup");
}

void WriteHit(json::Writer& writer, const plan::Limit& limit, const std::vector<std::string>& hit) {
  const bool is_hit = std::find(hit.begin(), hit.end(), limit.name) != hit.end();
  writer.Key("hit");
  if (is_hit || IsSeenWhenHit(limit)) {
    writer.Bool(is_hit);
  } else {
    writer.Null();
  }
}

void WriteLimits(json::Writer& writer, const plan::SandboxPlan* plan,
                 const std::vector<std::string>& hit) {
  writer.Key("limits").BeginArray();
  if (plan != nullptr) {
    for (const plan::Limit& limit : plan->limits) {
      writer.BeginObject();
      writer.Member("name", limit.name);
      writer.Member("value", limit.value);
      writer.Member("mechanism", limit.mechanism);
      WriteHit(writer, limit, hit);
      writer.EndObject();
    }
  }
  writer.EndArray();
}

void WriteUsage(json::Writer& writer, const result::ResourceUse& usage) {
  writer.Key("usage").BeginObject();
  writer.Member("cpu_ms", usage.cpu_ms);
  writer.Member("peak_memory_bytes", usage.peak_memory_bytes);
  writer.Member("wall_ms", usage.wall_ms);
  writer.EndObject();
}

void WriteConfinement(json::Writer& writer, const ResponseParts& parts) {
  writer.Key("confinement").BeginObject();
  writer.Member("plan", parts.plan != nullptr ? "sha256:" + parts.plan->digest : std::string());
  writer.Member("program", parts.policy != nullptr ? parts.policy->program_digest : "");
  writer.EndObject();
}

void WriteRefusedCalls(json::Writer& writer, const result::RunResult& result) {
  writer.Key("refused_calls").BeginArray();
  for (const result::RefusedCall& call : result.refused_calls) {
    writer.BeginObject();
    writer.Member("syscall", CallName(call));
    writer.Member("number", call.number);
    writer.Key("arguments").Uints(call.arguments);
    writer.Member("errno", call.error);
    writer.Member("count", call.count);
    writer.EndObject();
  }
  writer.EndArray();
  writer.Member("refused_calls_uncounted", result.refused_uncounted);
}

}  // namespace

std::string RunResponse(const ResponseParts& parts, const result::RunResult& result) {
  constexpr int kProtocol = 2;
  const bool has_image = parts.rootfs != nullptr;
  json::Writer writer;
  writer.BeginObject();
  writer.Member("protocol", kProtocol);
  writer.Member("sandbox", "native");
  writer.Member("isolation", "container");
  writer.Member("environment", has_image ? parts.rootfs->environment : std::string());
  writer.Member("software_identity",
                has_image ? image::SoftwareIdentity(*parts.rootfs) : std::string());
  writer.Member("policy", parts.policy != nullptr ? parts.policy->digest : "");
  writer.Member("trace_id", parts.request != nullptr ? parts.request->trace_id : std::string());
  writer.Member("duration_ms", result.usage.wall_ms);
  writer.Member("origin", OriginName(result.cause));
  writer.Member("ran", RanName(result.ran));
  WriteRefusal(writer, result);
  WriteProject(writer, result);
  WriteLimits(writer, parts.plan, result.limits_hit);
  WriteUsage(writer, result.usage);
  WriteConfinement(writer, parts);
  if (parts.request != nullptr && parts.request->seccomp_log) WriteRefusedCalls(writer, result);
  writer.EndObject();
  return writer.Take() + "\n";
}

std::string RefusalResponse(const Error& error) {
  json::Writer writer;
  writer.BeginObject().Key("refusal");
  WriteError(writer, error);
  return writer.EndObject().Take() + "\n";
}

}  // namespace plimsoll::cli
