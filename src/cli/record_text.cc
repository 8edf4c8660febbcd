#include "cli/record_text.h"

#include <array>
#include <ctime>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/reader.h"
#include "json/writer.h"
#include "record/key_file.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kMaxLine = std::size_t{512} << 20U;
constexpr std::size_t kLabelWidth = 11;

// A text member, a number as JSON has it; empty where there is none.
std::string At(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  if (!value || !*value) return {};
  if ((*value)->GetKind() == json::Kind::kString) return std::string(*(*value)->String());
  json::Writer writer;
  (*value)->WriteTo(writer);
  return writer.Take();
}

std::vector<json::Value> Items(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  if (!value || !*value) return {};
  auto items = (*value)->Array();
  return items ? *std::move(items) : std::vector<json::Value>();
}

// A line of the page; what comes from a guest or an image must not drive the reader's terminal.
std::string Row(std::string_view label, std::string_view text) {
  std::string row(label);
  row.resize(kLabelWidth, ' ');
  for (const char c : text)
    row += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  return row + "\n";
}

std::string Time(std::uint64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  struct tm parts = {};
  std::array<char, 32> text = {};
  if (::gmtime_r(&seconds, &parts) == nullptr) return std::to_string(unix_ms);
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text.data(), size};
}

std::string Joined(const std::vector<json::Value>& items) {
  std::string text;
  for (const json::Value& item : items) {
    const auto word = item.String();
    if (word) text += (text.empty() ? "" : " ") + std::string(*word);
  }
  return text;
}

std::string EndOf(const json::Value& step) {
  std::string text = "exit " + At(step, "exit_code");
  if (At(step, "signal") != "0") text += ", by signal " + At(step, "signal");
  if (At(step, "timed_out") == "true") text += ", at a time limit";
  if (At(step, "oom") == "true") text += ", at the memory limit";
  return text;
}

std::string StreamOf(const json::Value& step, std::string_view name) {
  const auto stream = step.Find(name);
  if (!stream || !*stream) return {};
  return At(**stream, "bytes") + " bytes, sha256:" + At(**stream, "sha256") +
         (At(**stream, "truncated") == "true" ? ", cut in the record" : "");
}

std::string RunRows(const json::Value& response) {
  std::string rows;
  const auto project = response.Find("project");
  if (!project || !*project) return rows;
  for (const json::Value& step : Items(**project, "steps")) {
    rows += Row("ran", At(step, "command"));
    rows += Row("  ended", EndOf(step));
    rows += Row("  stdout", StreamOf(step, "stdout"));
    rows += Row("  stderr", StreamOf(step, "stderr"));
  }
  for (const json::Value& artifact : Items(**project, "artifacts"))
    rows += Row("artifact", At(artifact, "path") + " " + At(artifact, "bytes") +
                                " bytes, sha256:" + At(artifact, "sha256"));
  const std::string detail = At(**project, "outcome_detail");
  rows += Row("outcome", At(**project, "outcome") + (detail.empty() ? "" : ": " + detail) +
                             "; of the guest ran: " + At(response, "ran"));
  return rows;
}

std::string LimitText(const json::Value& limit) {
  return At(limit, "name") + " " + At(limit, "value") + " (" + At(limit, "mechanism") +
         (At(limit, "hit") == "true" ? ", reached)" : ")");
}

// Mounts that the run was given from the host, besides the devices and covers that every run has.
std::string VolumeRows(const json::Value& confinement) {
  std::string rows;
  for (const json::Value& mount : Items(confinement, "mounts")) {
    const std::string target = At(mount, "target");
    if (At(mount, "type") != "host" || target.starts_with("/dev/") ||
        target.starts_with("/proc/")) {
      continue;
    }
    rows += Row("  volume", target + " (" + Joined(Items(mount, "flags")) + ")");
  }
  return rows;
}

std::string WallRows(const json::Value& confinement) {
  std::string rows = Row("wall", "namespaces " + Joined(Items(confinement, "namespaces")));
  if (const auto maps = confinement.Find("id_maps"); maps && *maps) {
    rows += Row("  ids", "uid " + At(**maps, "uid") + ", gid " + At(**maps, "gid") +
                             " (inside, outside, count); no capabilities");
  }
  rows += Row("  filter", At(confinement, "program"));
  rows += VolumeRows(confinement);
  for (const json::Value& limit : Items(confinement, "limits"))
    rows += Row("  limit", LimitText(limit));
  return rows;
}

std::string RunnerRow(const json::Value& confinement) {
  const auto runner = confinement.Find("runner");
  if (!runner || !*runner) return {};
  return Row("runner", "plimsoll " + At(**runner, "version") + ", sha256:" +
                           At(**runner, "sha256") + ", on Linux " + At(confinement, "kernel"));
}

}  // namespace

std::string KeyText(const std::string& path, const crypto::PublicKey& key) {
  return Row("private", Quote(path) + ", for signing; keep it to yourself") +
         Row("public", Quote(record::PublicPath(path)) + ", for 'plimsoll verify --pub'") +
         Row("key id", key.Id());
}

std::string KeyJson(const std::string& path, const crypto::PublicKey& key) {
  json::Writer writer;
  writer.BeginObject();
  writer.Member("private", IsUtf8(path) ? path : Quote(path));
  writer.Member("public", record::PublicPath(IsUtf8(path) ? path : Quote(path)));
  return writer.Member("keyid", key.Id()).EndObject().Take() + "\n";
}

std::string VerifiedText(const record::Verified& verified, const crypto::PublicKey& key) {
  std::string text = std::to_string(verified.lines) +
                     (verified.lines == 1 ? " line verifies" : " lines verify") +
                     ", signed by the key " + key.Id() + "\n";
  if (!verified.head.empty()) text += "the last line has the SHA-256 " + verified.head + "\n";
  if (verified.partial_requests > 0) {
    text += std::to_string(verified.partial_requests) +
            " of the requests keep a file by its digest alone: signed, but not worked out anew\n";
  }
  return text;
}

std::string VerifiedJson(const record::Verified& verified, const crypto::PublicKey& key) {
  json::Writer writer;
  writer.BeginObject().Member("verified", true).Member("lines", verified.lines);
  writer.Member("head", verified.head).Member("keyid", key.Id());
  writer.Member("partial_requests", verified.partial_requests);
  return writer.EndObject().Take() + "\n";
}

std::string NotVerifiedJson(const Error& error) {
  json::Writer writer;
  writer.BeginObject().Member("verified", false).Member("error", error.Message());
  return writer.EndObject().Take() + "\n";
}

Result<std::string> RecordText(const std::string& line, const record::CheckedLine& checked,
                               const crypto::PublicKey& key) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document,
                      json::Parse(line, "line", {.bytes = kMaxLine}));
  PLIMSOLL_TRY_ASSIGN(const json::Value response, document.Root().Member("response"));
  PLIMSOLL_TRY_ASSIGN(const json::Document confinement,
                      json::Parse(checked.statement.confinement, "confinement"));
  const record::RecordFields& record = checked.statement.record;
  std::string text =
      Row("record", record::RecordDigest(record) + ", line " +
                        std::to_string(checked.statement.link->index) + " of its bundle");
  text += Row("when", Time(record.started_unix_ms) + ", for " +
                          std::to_string(record.ended_unix_ms - record.started_unix_ms) + " ms");
  text += RunRows(response);
  text += Row("image", record.environment);
  text += Row("policy", record.policy);
  text += Row("reached", "nothing: no network and no grant");
  text += WallRows(confinement.Root());
  text += RunnerRow(confinement.Root());
  text += Row("signed by", key.Id());
  return text;
}

Result<std::string> PlanOfLine(const std::string& line) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document,
                      json::Parse(line, "line", {.bytes = kMaxLine}));
  PLIMSOLL_TRY_ASSIGN(const json::Value plan, document.Root().Member("plan"));
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, plan.String());
  return std::string(text);
}

}  // namespace plimsoll::cli
