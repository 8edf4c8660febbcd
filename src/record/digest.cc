#include "record/digest.h"

#include <algorithm>
#include <array>

#include "crypto/sha256.h"

namespace plimsoll::record {
namespace {

constexpr std::uint64_t kProtocol = 2;

class Encoder {
 public:
  explicit Encoder(std::string_view domain) { Value(domain); }

  void Text(std::string_view name, std::string_view content) {
    Value(name);
    Value(content);
  }
  void Int(std::string_view name, std::int64_t number) { Text(name, std::to_string(number)); }
  void Uint(std::string_view name, std::uint64_t number) { Text(name, std::to_string(number)); }
  void Bool(std::string_view name, bool value) { Text(name, value ? "true" : "false"); }
  // A group of one field.
  void Texts(std::string_view group, std::string_view name, const std::vector<std::string>& items) {
    Uint(group, items.size());
    for (const std::string& item : items)
      Text(name, item);
  }

  std::string Finish() { return hash_.FinishHex(); }

 private:
  void Value(std::string_view bytes) {
    std::array<unsigned char, 8> size;
    for (std::size_t i = 0; i < size.size(); ++i)
      size[i] = static_cast<unsigned char>(bytes.size() >> (56U - 8U * i) & 255U);
    hash_.Update(size.data(), size.size());
    hash_.Update(bytes);
  }

  crypto::Sha256 hash_;
};

}  // namespace

bool SoftwareRule::Allows(std::string_view identity) const {
  return mode.empty() ||
         std::find(identities.begin(), identities.end(), identity) != identities.end();
}

std::string SoftwareRule::Id() const {
  if (mode.empty()) return {};
  if (mode == "exact") return "exact:" + (identities.empty() ? std::string() : identities[0]);
  std::vector<std::string> sorted = identities;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string joined;
  for (const std::string& identity : sorted) {
    if (!joined.empty()) joined += '\0';
    joined += identity;
  }
  return "approved:sha256:" + crypto::Sha256HexOf(joined);
}

std::string RequestDigest(const RequestFields& request) {
  Encoder encoder("plimsoll.run-request.v2");
  encoder.Uint("protocol", kProtocol);
  encoder.Text("minimum_isolation", request.minimum_isolation);
  encoder.Uint("timeout_ms", request.timeout_ms);
  encoder.Text("software_mode", request.software.mode);
  encoder.Texts("software_identities", "software_identity", request.software.identities);
  encoder.Text("kind", "project");
  encoder.Text("grant_profile", request.grant_profile);
  encoder.Uint("files", request.files.size());
  for (const FileFields& file : request.files) {
    encoder.Text("file_path", file.path);
    encoder.Text("file_content", file.content);
  }
  encoder.Texts("steps", "step_command", request.steps);
  encoder.Texts("artifacts", "artifact_path", request.artifacts);
  return encoder.Finish();
}

std::string ResultDigest(const ResultFields& result) {
  Encoder encoder("plimsoll.run-result.v1");
  encoder.Text("kind", "project");
  encoder.Int("outcome", static_cast<int>(result.outcome));
  encoder.Text("outcome_detail", result.outcome_detail);
  encoder.Bool("artifacts_truncated", result.artifacts_truncated);
  encoder.Uint("steps", result.steps.size());
  for (const StepFields& step : result.steps) {
    encoder.Text("step_command", step.command);
    encoder.Int("step_exit_code", step.exit_code);
    encoder.Bool("step_timed_out", step.timed_out);
    encoder.Text("step_stdout", step.out);
    encoder.Text("step_stderr", step.err);
    encoder.Bool("step_stdout_truncated", step.out_truncated);
    encoder.Bool("step_stderr_truncated", step.err_truncated);
  }
  encoder.Uint("artifacts", result.artifacts.size());
  for (const FileFields& artifact : result.artifacts) {
    encoder.Text("artifact_path", artifact.path);
    encoder.Text("artifact_content", artifact.content);
  }
  return encoder.Finish();
}

std::string RecordDigest(const RecordFields& record) {
  Encoder encoder("plimsoll.run-record.v2");
  encoder.Text("request_sha256", record.request_sha256);
  encoder.Text("result_sha256", record.result_sha256);
  encoder.Text("provider", record.provider);
  encoder.Text("isolation", record.isolation);
  encoder.Text("environment", record.environment);
  encoder.Text("policy", record.policy);
  encoder.Text("software_identity", record.software_identity);
  encoder.Text("software_rule_id", record.software_rule_id);
  encoder.Uint("started_unix_ms", record.started_unix_ms);
  encoder.Uint("ended_unix_ms", record.ended_unix_ms);
  encoder.Text("session", record.session);
  encoder.Uint("sequence", record.sequence);
  encoder.Text("previous_sha256", record.previous_sha256);
  return encoder.Finish();
}

}  // namespace plimsoll::record
