#include "record/form.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "crypto/sha256.h"
#include "request/run_request.h"

namespace plimsoll::record {
namespace {

constexpr std::uint64_t kProtocol = 2;

struct OutcomeName {
  std::string_view name;
  Outcome outcome;
};
constexpr std::array<OutcomeName, 4> kOutcomes = {{{"completed", Outcome::kCompleted},
                                                   {"setup_failed", Outcome::kSetupFailed},
                                                   {"timed_out", Outcome::kTimedOut},
                                                   {"protocol_error", Outcome::kProtocolError}}};

Result<std::string_view> Text(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  return value.String();
}

Result<bool> Flag(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  return value.Bool();
}

Result<std::vector<json::Value>> Items(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  return value.Array();
}

Result<std::vector<std::string>> Texts(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  return value.Strings();
}

Result<void> ExpectProtocol(const json::Value& object) {
  PLIMSOLL_TRY_ASSIGN(const json::Value protocol, object.Member("protocol"));
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t number, protocol.Uint());
  if (number == kProtocol) return {};
  return protocol.Complaint("protocol " + std::to_string(number) + " is not known; expected 2");
}

// Keeps a text where the fields can point to it.
std::string_view Keep(std::deque<std::string>& texts, std::string text) {
  return texts.emplace_back(std::move(text));
}

Result<SoftwareRule> ReadRule(const json::Value& request) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, request.Member("software_rule"));
  PLIMSOLL_TRY(value.OnlyMembers({"mode", "identities"}));
  SoftwareRule rule;
  PLIMSOLL_TRY_ASSIGN(rule.mode, Text(value, "mode"));
  PLIMSOLL_TRY_ASSIGN(rule.identities, Texts(value, "identities"));
  if (rule.mode.empty() == rule.identities.empty() &&
      (rule.mode.empty() || rule.mode == "approved" ||
       (rule.mode == "exact" && rule.identities.size() == 1))) {
    return rule;
  }
  return value.Complaint(
      "expected no rule, 'exact' with one identity, or 'approved' with one or more");
}

// A text, or {"base64"} of one that is no UTF-8.
Result<std::string> ReadWord(const json::Value& value) {
  if (value.GetKind() == json::Kind::kObject) {
    PLIMSOLL_TRY(value.OnlyMembers({"base64"}));
    return ReadContent(value);
  }
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  return std::string(text);
}

// What Writer::BytesMember() has written.
Result<std::string> ReadBytes(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const auto encoded, object.Find(std::string(name) + "_base64"));
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, Text(object, name));
  if (!encoded) return std::string(text);
  PLIMSOLL_TRY_ASSIGN(const std::string_view base64, encoded->String());
  auto bytes = DecodeBase64(base64);
  if (!bytes) return encoded->Complaint("expected standard base64 with padding");
  return *std::move(bytes);
}

Result<std::string> StepCommand(const json::Value& value) {
  const auto argv = value.GetKind() == json::Kind::kObject
                        ? value.Find("argv")
                        : Result<std::optional<json::Value>>(std::nullopt);
  if (!argv) return argv.error();
  request::Step step;
  if (!*argv) {
    PLIMSOLL_TRY_ASSIGN(step.shell, ReadWord(value));
    return request::CommandText(step);
  }
  PLIMSOLL_TRY(value.OnlyMembers({"argv"}));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> items, (*argv)->Array());
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(step.arguments.emplace_back(), ReadWord(item));
  }
  return request::CommandText(step);
}

Result<void> ReadFiles(const json::Value& project, StoredRequest& request) {
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> files, Items(project, "files"));
  for (const json::Value& file : files) {
    PLIMSOLL_TRY(file.OnlyMembers({"path", "text", "base64", "bytes", "sha256", "executable"}));
    PLIMSOLL_TRY_ASSIGN(const json::Value name, file.Member("path"));
    PLIMSOLL_TRY_ASSIGN(std::string path, ReadWord(name));
    PLIMSOLL_TRY_ASSIGN(const auto digest, file.Find("sha256"));
    if (digest) {
      request.is_whole = false;
      continue;
    }
    PLIMSOLL_TRY_ASSIGN(std::string content, ReadContent(file));
    request.fields.files.push_back(
        {Keep(request.texts, std::move(path)), Keep(request.texts, std::move(content))});
  }
  return {};
}

struct Stream {
  std::string content;
  bool truncated = false;
};

Result<Stream> ReadStream(const json::Value& step, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, step.Member(name));
  PLIMSOLL_TRY(value.OnlyMembers({"text", "base64", "bytes", "sha256", "truncated"}));
  Stream stream;
  PLIMSOLL_TRY_ASSIGN(stream.content, ReadContent(value));
  PLIMSOLL_TRY_ASSIGN(stream.truncated, Flag(value, "truncated"));
  PLIMSOLL_TRY_ASSIGN(const json::Value bytes, value.Member("bytes"));
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t size, bytes.Uint());
  PLIMSOLL_TRY_ASSIGN(const std::string_view digest, Text(value, "sha256"));
  if (stream.truncated) {
    if (stream.content.size() >= size) return bytes.Complaint("no more than what was kept");
    return stream;
  }
  if (stream.content.size() != size) return bytes.Complaint("not the length of what was kept");
  if (crypto::Sha256HexOf(stream.content) != digest) {
    return value.Complaint("the SHA-256 is not that of what was kept");
  }
  return stream;
}

Result<void> ReadStep(const json::Value& step, StoredResult& result) {
  PLIMSOLL_TRY(step.OnlyMembers({"command", "command_base64", "exit_code", "signal", "timed_out",
                                 "oom", "stdout", "stderr"}));
  StepFields fields;
  PLIMSOLL_TRY_ASSIGN(std::string text, ReadBytes(step, "command"));
  fields.command = Keep(result.texts, std::move(text));
  PLIMSOLL_TRY_ASSIGN(const json::Value code, step.Member("exit_code"));
  PLIMSOLL_TRY_ASSIGN(fields.exit_code, code.Int());
  PLIMSOLL_TRY_ASSIGN(fields.timed_out, Flag(step, "timed_out"));
  PLIMSOLL_TRY_ASSIGN(Stream out, ReadStream(step, "stdout"));
  PLIMSOLL_TRY_ASSIGN(Stream err, ReadStream(step, "stderr"));
  fields.out = Keep(result.texts, std::move(out.content));
  fields.err = Keep(result.texts, std::move(err.content));
  fields.out_truncated = out.truncated;
  fields.err_truncated = err.truncated;
  result.fields.steps.push_back(fields);
  return {};
}

Result<void> ReadArtifact(const json::Value& artifact, StoredResult& result) {
  PLIMSOLL_TRY(artifact.OnlyMembers({"path", "path_base64", "bytes", "sha256", "text", "base64"}));
  PLIMSOLL_TRY_ASSIGN(std::string path, ReadBytes(artifact, "path"));
  PLIMSOLL_TRY_ASSIGN(std::string content, ReadContent(artifact));
  PLIMSOLL_TRY_ASSIGN(const json::Value bytes, artifact.Member("bytes"));
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t size, bytes.Uint());
  PLIMSOLL_TRY_ASSIGN(const std::string_view digest, Text(artifact, "sha256"));
  if (size != content.size()) return bytes.Complaint("not the length of the content");
  if (crypto::Sha256HexOf(content) != digest) {
    return artifact.Complaint("the SHA-256 is not that of the content");
  }
  result.fields.artifacts.push_back(
      {Keep(result.texts, std::move(path)), Keep(result.texts, std::move(content))});
  return {};
}

}  // namespace

Result<std::string> ReadContent(const json::Value& object) {
  PLIMSOLL_TRY_ASSIGN(const auto text, object.Find("text"));
  PLIMSOLL_TRY_ASSIGN(const auto base64, object.Find("base64"));
  if (text.has_value() == base64.has_value()) {
    return object.Complaint("expected one of 'text' and 'base64'");
  }
  if (text) {
    PLIMSOLL_TRY_ASSIGN(const std::string_view content, text->String());
    return std::string(content);
  }
  PLIMSOLL_TRY_ASSIGN(const std::string_view encoded, base64->String());
  auto content = DecodeBase64(encoded);
  if (!content) return base64->Complaint("expected standard base64 with padding");
  return *std::move(content);
}

Result<StoredRequest> ReadRequest(const json::Value& request) {
  PLIMSOLL_TRY(ExpectProtocol(request));
  StoredRequest stored;
  RequestFields& fields = stored.fields;
  PLIMSOLL_TRY_ASSIGN(const std::string_view floor, Text(request, "minimum_isolation"));
  fields.minimum_isolation = Keep(stored.texts, std::string(floor));
  PLIMSOLL_TRY_ASSIGN(const json::Value timeout, request.Member("timeout_ms"));
  PLIMSOLL_TRY_ASSIGN(fields.timeout_ms, timeout.Uint());
  PLIMSOLL_TRY_ASSIGN(fields.software, ReadRule(request));
  PLIMSOLL_TRY_ASSIGN(const json::Value project, request.Member("project"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> grants, Texts(project, "grant_profile"));
  for (const std::string& grant : grants)
    fields.grant_profile += (fields.grant_profile.empty() ? "" : ",") + grant;
  PLIMSOLL_TRY(ReadFiles(project, stored));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> steps, Items(project, "steps"));
  for (const json::Value& step : steps) {
    PLIMSOLL_TRY_ASSIGN(fields.steps.emplace_back(), StepCommand(step));
  }
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> artifacts, Items(project, "artifacts"));
  for (const json::Value& artifact : artifacts) {
    PLIMSOLL_TRY_ASSIGN(fields.artifacts.emplace_back(), ReadWord(artifact));
  }
  return stored;
}

Result<StoredResult> ReadResult(const json::Value& response) {
  PLIMSOLL_TRY(ExpectProtocol(response));
  PLIMSOLL_TRY_ASSIGN(const json::Value project, response.Member("project"));
  PLIMSOLL_TRY(project.OnlyMembers({"outcome", "outcome_detail", "artifacts_truncated", "steps",
                                    "artifacts", "artifacts_missing"}));
  StoredResult stored;
  ResultFields& fields = stored.fields;
  PLIMSOLL_TRY_ASSIGN(const std::string_view name, Text(project, "outcome"));
  const auto* const outcome =
      std::find_if(kOutcomes.begin(), kOutcomes.end(),
                   [&](const OutcomeName& known) { return known.name == name; });
  if (outcome == kOutcomes.end()) {
    return project.Complaint("outcome " + Quote(name) + " is not known");
  }
  fields.outcome = outcome->outcome;
  PLIMSOLL_TRY_ASSIGN(const std::string_view detail, Text(project, "outcome_detail"));
  fields.outcome_detail = Keep(stored.texts, std::string(detail));
  PLIMSOLL_TRY_ASSIGN(fields.artifacts_truncated, Flag(project, "artifacts_truncated"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> steps, Items(project, "steps"));
  for (const json::Value& step : steps)
    PLIMSOLL_TRY(ReadStep(step, stored));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> artifacts, Items(project, "artifacts"));
  for (const json::Value& artifact : artifacts)
    PLIMSOLL_TRY(ReadArtifact(artifact, stored));
  return stored;
}

}  // namespace plimsoll::record
