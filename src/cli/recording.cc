#include "cli/recording.h"

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/paths.h"
#include "cli/report.h"
#include "json/writer.h"
#include "record/key_file.h"
#include "sys/file.h"

namespace plimsoll::cli {
namespace {

std::string Absolute(const std::string& path) {
  return path.starts_with('/') ? path : "./" + path;
}

Error WithHint(Error error) {
  if (error.hint.empty()) {
    error.hint = "--record FILE and --key FILE name others, --no-record does without";
  }
  return error;
}

}  // namespace

Result<std::optional<record::Recorder>> PrepareRecorder(const RecordOptions& options,
                                                        const std::string& store,
                                                        const std::string& version,
                                                        const std::string& kernel_release) {
  if (options.off) return std::optional<record::Recorder>();
  struct stat status = {};
  if (options.path.empty() && ::stat(store.c_str(), &status) != 0) {
    PLIMSOLL_TRY(sys::MakeDirectories(store, 0700));
  }
  record::Places places = {
      .bundle = options.path.empty() ? store + "/records.jsonl" : Absolute(options.path),
      .key = {},
      .make_key = options.key.empty(),
      .sync = options.sync,
      .digest_cache = store};
  const std::vector<std::string> keys =
      options.key.empty() ? UserKeyPaths(store) : std::vector<std::string>{Absolute(options.key)};
  std::optional<Error> first;
  for (const std::string& key : keys) {
    places.key = key;
    auto recorder = record::Recorder::Prepare(places, version, kernel_release);
    if (recorder) return std::optional(*std::move(recorder));
    // A key that is there and cannot be used is not passed over for another.
    if (recorder.error().kind != ErrorKind::kHost) return WithHint(std::move(recorder).error());
    if (!first) first = std::move(recorder).error();
  }
  return WithHint(*std::move(first));
}

RecordAnswer Record(record::Recorder& recorder, const record::Draft& draft) {
  const auto recorded = recorder.Record(draft);
  if (!recorded) return NotRecorded(recorded.error());
  const record::Places& places = recorder.Where();
  if (recorded->made_key) {
    PrintNote("made a key to sign records with, " + Quote(places.key) + "; others verify with " +
              Quote(record::PublicPath(places.key)));
  }
  if (recorded->line.torn_bytes > 0) {
    PrintNote("cut off " + std::to_string(recorded->line.torn_bytes) + " bytes at the end of " +
              Quote(places.bundle) + ", the beginning of a line that a killed run had left");
  }
  json::Writer writer;
  writer.BeginObject();
  writer.Member("path", IsUtf8(places.bundle) ? places.bundle : Quote(places.bundle));
  writer.Member("line", recorded->line.index);
  writer.Member("line_sha256", recorded->line.line_sha256);
  writer.Member("record_sha256", recorded->line.record_sha256);
  writer.Member("keyid", recorded->key_id);
  return {.json = writer.EndObject().Take()};
}

RecordAnswer NotRecorded(const Error& error) {
  Error said = error;
  PrintError(std::move(said).In("the run is not recorded"));
  json::Writer writer;
  writer.BeginObject().Member("error", error.Message()).EndObject();
  return {.json = writer.Take(), .failed = true};
}

std::string WithRecord(std::string response, const std::string& record) {
  response.erase(response.rfind('}'));
  return response + ",\"record\":" + record + "}\n";
}

}  // namespace plimsoll::cli
