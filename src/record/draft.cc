#include "record/draft.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "crypto/sha256.h"
#include "json/reader.h"
#include "json/writer.h"
#include "plan/plan_reader.h"
#include "record/form.h"

namespace plimsoll::record {
namespace {

using Steps = std::vector<request::Step>;

constexpr std::uint64_t kProtocol = 2;
constexpr std::size_t kMaxResponse = std::size_t{512} << 20U;

std::string_view TierName(request::Tier tier) {
  constexpr std::array<std::string_view, 4> kNames = {"process", "container", "kernel", "vm"};
  return kNames[static_cast<std::size_t>(tier)];
}

// A text that may be no UTF-8, such as a word of a command line.
void WriteText(std::string_view text, json::Writer& writer) {
  if (IsUtf8(text)) {
    writer.String(text);
  } else {
    writer.BeginObject().Member("base64", Base64(text)).EndObject();
  }
}

// Of a variable that is set twice, the last value counts.
void WriteEnvironment(const request::RunRequest& request, bool keep, json::Writer& writer) {
  std::map<std::string_view, std::string_view> variables;
  for (const auto& [name, value] : request.environment)
    variables[name] = value;
  writer.Key("env").BeginObject();
  for (const auto& [name, value] : variables) {
    writer.Key(IsUtf8(name) ? std::string(name) : Quote(name));
    if (keep) {
      WriteText(value, writer);
    } else {
      writer.BeginObject().Member("sha256", crypto::Sha256HexOf(value)).EndObject();
    }
  }
  writer.EndObject();
}

void WriteLimits(const request::RunRequest& request, json::Writer& writer) {
  const request::Limits& limits = request.limits;
  writer.Key("limits").BeginObject();
  if (limits.cpu_time) writer.Member("cpu_time_ms", limits.cpu_time->count());
  writer.Member("kill_after_ms", limits.kill_after.count());
  if (limits.memory_bytes) writer.Member("memory_bytes", *limits.memory_bytes);
  if (limits.pids) writer.Member("pids", *limits.pids);
  if (limits.cpus) writer.Member("cpus", *limits.cpus);
  writer.Member("tmpfs_bytes", limits.tmpfs_bytes);
  writer.Member("output_bytes", request.output_limit);
  writer.Member("require", limits.require);
  writer.EndObject();
}

void WriteMounts(const request::RunRequest& request, json::Writer& writer) {
  writer.Key("mounts").BeginArray();
  for (const request::Volume& volume : request.volumes) {
    writer.BeginObject().Key("source");
    WriteText(volume.source, writer);
    writer.Key("destination");
    WriteText(volume.destination, writer);
    writer.Member("writable", volume.writable).EndObject();
  }
  writer.EndArray();
}

// Contents above this stay out of the line: their SHA-256 stands for them.
constexpr std::size_t kMostInline = 65536;

void WriteFiles(const request::RunRequest& request, json::Writer& writer) {
  constexpr std::uint32_t kExecutable = 0111;
  writer.Key("files").BeginArray();
  for (const request::File& file : request.files) {
    writer.BeginObject().Key("path");
    WriteText(file.path, writer);
    if (file.content.size() > kMostInline) {
      writer.Member("bytes", file.content.size());
      writer.Member("sha256", crypto::Sha256HexOf(file.content));
    } else if (IsUtf8(file.content)) {
      writer.Member("text", file.content);
    } else {
      writer.Member("base64", Base64(file.content));
    }
    if ((file.mode & kExecutable) != 0) writer.Member("executable", true);
    writer.EndObject();
  }
  writer.EndArray();
}

void WriteSteps(const Steps& steps, json::Writer& writer) {
  writer.Key("steps").BeginArray();
  for (const request::Step& step : steps) {
    if (step.shell) {
      WriteText(*step.shell, writer);
      continue;
    }
    writer.BeginObject().Key("argv").BeginArray();
    for (const std::string& word : step.arguments)
      WriteText(word, writer);
    writer.EndArray().EndObject();
  }
  writer.EndArray();
}

void WriteProject(const request::RunRequest& request, const Steps& steps, bool keep_environment,
                  json::Writer& writer) {
  writer.Key("project").BeginObject();
  writer.Key("grant_profile").Strings(request.grant_profile);
  WriteFiles(request, writer);
  WriteSteps(steps, writer);
  writer.Key("artifacts").BeginArray();
  for (const request::Artifact& artifact : request.artifacts)
    WriteText(artifact.path, writer);
  writer.EndArray();
  WriteEnvironment(request, keep_environment, writer);
  writer.Key("workdir");
  WriteText(request.workdir, writer);
  writer.Key("user");
  WriteText(request.user.user + (request.user.group.empty() ? "" : ":" + request.user.group),
            writer);
  WriteLimits(request, writer);
  WriteMounts(request, writer);
  writer.EndObject();
}

// What only exec's flags can ask for.
void WriteFlags(const request::RunRequest& request, json::Writer& writer) {
  writer.Key("exec").BeginObject();
  writer.Member("writable_root", request.writable_root);
  writer.Member("volume_all", request.volume_all);
  writer.Member("volume_sockets", request.volume_sockets);
  writer.Key("seccomp");
  WriteText(request.seccomp, writer);
  writer.Member("seccomp_log", request.seccomp_log);
  writer.Member("interactive", request.interactive);
  writer.EndObject();
}

std::string_view ModeName(request::SoftwareRule::Mode mode) {
  switch (mode) {
    case request::SoftwareRule::Mode::kAny:
      return "";
    case request::SoftwareRule::Mode::kExact:
      return "exact";
    case request::SoftwareRule::Mode::kApproved:
      return "approved";
  }
  return "";
}

// The steps with the image's own command in the place of an empty vector, once it is known.
Steps StepsOf(const RunFacts& facts) {
  Steps steps = facts.request->steps;
  if (facts.plan == nullptr) return steps;
  for (std::size_t i = 0; i < std::min(steps.size(), facts.plan->commands.size()); ++i) {
    if (!steps[i].shell) steps[i].arguments = facts.plan->commands[i].arguments;
  }
  return steps;
}

RequestFields FieldsOf(const request::RunRequest& request, const Steps& steps) {
  RequestFields fields;
  if (request.floor) fields.minimum_isolation = TierName(*request.floor);
  if (request.limits.timeout) {
    fields.timeout_ms = static_cast<std::uint64_t>(request.limits.timeout->count());
  }
  fields.software = {.mode = std::string(ModeName(request.software_rule.mode)),
                     .identities = request.software_rule.identities};
  for (const std::string& grant : request.grant_profile)
    fields.grant_profile += (fields.grant_profile.empty() ? "" : ",") + grant;
  for (const request::File& file : request.files)
    fields.files.push_back({file.path, file.content});
  for (const request::Step& step : steps)
    fields.steps.push_back(request::CommandText(step));
  for (const request::Artifact& artifact : request.artifacts)
    fields.artifacts.push_back(artifact.path);
  return fields;
}

// Where the members come from the response, they are those of the response.
Result<void> Copy(const json::Value& response, std::string_view name, json::Writer& writer) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, response.Member(name));
  writer.Key(name);
  value.WriteTo(writer);
  return {};
}

Result<void> WriteStreams(const json::Value& response, json::Writer& writer) {
  PLIMSOLL_TRY_ASSIGN(const json::Value project, response.Member("project"));
  PLIMSOLL_TRY_ASSIGN(const json::Value steps, project.Member("steps"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> items, steps.Array());
  writer.Key("steps").BeginArray();
  for (const json::Value& step : items) {
    writer.BeginObject();
    for (const std::string_view name : {"exit_code", "signal", "timed_out", "oom"})
      PLIMSOLL_TRY(Copy(step, name, writer));
    for (const std::string_view name : {"stdout", "stderr"}) {
      PLIMSOLL_TRY_ASSIGN(const json::Value stream, step.Member(name));
      writer.Key(name).BeginObject();
      PLIMSOLL_TRY(Copy(stream, "bytes", writer));
      PLIMSOLL_TRY(Copy(stream, "sha256", writer));
      writer.EndObject();
    }
    writer.EndObject();
  }
  writer.EndArray();
  return {};
}

// For each step the SHA-256 over its words, each with a NUL at its end.
void WriteArgvDigests(const Steps& steps, json::Writer& writer) {
  writer.Key("argv_sha256").BeginArray();
  for (const request::Step& step : steps) {
    crypto::Sha256 hash;
    for (const std::string& word : step.arguments) {
      hash.Update(word);
      hash.Update(std::string_view("\0", 1));
    }
    writer.String(hash.FinishHex());
  }
  writer.EndArray();
}

// All that the plan, the policy, the image and the host say.
void BeginConfinement(const RunFacts& facts, const Steps& steps, json::Writer& writer) {
  writer.BeginObject();
  writer.Member("plan", facts.plan != nullptr ? "sha256:" + facts.plan->digest : std::string());
  writer.Member("program", facts.policy != nullptr ? facts.policy->program_digest : "");
  if (facts.plan != nullptr) plan::WriteConfinement(facts.plan->bytes, writer);
  writer.Member("kernel", facts.runner.kernel_release);
  writer.Key("runner").BeginObject().Member("version", facts.runner.version);
  writer.Member("sha256", facts.runner.sha256).EndObject();
  writer.Key("image").BeginObject();
  writer.Member("environment", facts.rootfs != nullptr ? facts.rootfs->environment : "");
  writer.Member("manifest", facts.rootfs != nullptr ? facts.rootfs->manifest.ToString() : "");
  writer.EndObject();
  WriteArgvDigests(steps, writer);
}

// And what became of it.
Result<std::string> FinishConfinement(const json::Value& response, json::Writer& writer) {
  for (const std::string_view name : {"limits", "origin", "ran", "usage"})
    PLIMSOLL_TRY(Copy(response, name, writer));
  PLIMSOLL_TRY(WriteStreams(response, writer));
  return writer.EndObject().Take();
}

std::string Text(const json::Value& object, std::string_view name) {
  const auto value = object.Member(name);
  const auto text = value ? value->String() : Result<std::string_view>(value.error());
  return text ? std::string(*text) : std::string();
}

std::string RequestText(const request::RunRequest& request, const Steps& steps,
                        bool keep_environment) {
  json::Writer writer;
  writer.BeginObject().Member("protocol", kProtocol);
  writer.Member("minimum_isolation", request.floor ? TierName(*request.floor) : "");
  writer.Member("timeout_ms", request.limits.timeout ? request.limits.timeout->count() : 0);
  writer.Member("trace_id", request.trace_id);
  writer.Key("software_rule").BeginObject();
  writer.Member("mode", ModeName(request.software_rule.mode));
  writer.Key("identities").Strings(request.software_rule.identities).EndObject();
  writer.Key("image");
  WriteText(request.image, writer);
  writer.Key("caller");
  WriteText(request.caller, writer);
  WriteProject(request, steps, keep_environment, writer);
  WriteFlags(request, writer);
  return writer.EndObject().Take();
}

}  // namespace

BegunDraft BeginDraft(const RunFacts& facts) {
  const request::RunRequest& request = *facts.request;
  const Steps steps = StepsOf(facts);
  BegunDraft begun;
  begun.draft.request = RequestText(request, steps, facts.keep_environment);
  if (facts.plan != nullptr) {
    begun.draft.plan =
        plan::DumpText(facts.plan->bytes, facts.keep_environment ? plan::Environment::kShown
                                                                 : plan::Environment::kHashed);
  }
  const RequestFields fields = FieldsOf(request, steps);
  RecordFields& record = begun.draft.statement.record;
  record.request_sha256 = RequestDigest(fields);
  record.software_rule_id = fields.software.Id();
  BeginConfinement(facts, steps, begun.confinement);
  return begun;
}

Result<Draft> FinishDraft(BegunDraft begun, std::string_view response,
                          std::uint64_t started_unix_ms, std::uint64_t ended_unix_ms) {
  Draft& draft = begun.draft;
  draft.response = response;
  PLIMSOLL_TRY_ASSIGN(const json::Document document,
                      json::Parse(draft.response, "response", {.bytes = kMaxResponse}));
  const json::Value root = document.Root();
  PLIMSOLL_TRY_ASSIGN(const StoredResult result, ReadResult(root));
  RecordFields& record = draft.statement.record;
  record.result_sha256 = ResultDigest(result.fields);
  record.provider = Text(root, "sandbox");
  record.isolation = Text(root, "isolation");
  record.environment = Text(root, "environment");
  record.policy = Text(root, "policy");
  record.software_identity = Text(root, "software_identity");
  record.started_unix_ms = started_unix_ms;
  record.ended_unix_ms = ended_unix_ms;
  PLIMSOLL_TRY_ASSIGN(draft.statement.confinement, FinishConfinement(root, begun.confinement));
  draft.statement.calls = R"({"grants":[],"counters":{},"rows":[]})";
  return std::move(draft);
}

}  // namespace plimsoll::record
