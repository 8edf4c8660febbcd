#include "cli/image_text.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "base/text.h"
#include "json/writer.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kShortDigest = 12;
constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};

// "81.2 MB": decimal units, as registries show sizes.
std::string HumanSize(std::uint64_t bytes) {
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1000 && unit + 1 < kUnits.size()) {
    size /= 1000;
    ++unit;
  }
  std::array<char, 32> text = {};
  (void)std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", size,
                      kUnits[unit]);
  return text.data();
}

// "2026-12-01T03:14:15Z"
std::string UtcTime(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts = {};
  std::array<char, 32> text = {};
  if (::gmtime_r(&time, &parts) == nullptr) return std::to_string(seconds);
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string Pad(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

// "PATH=/bin"
std::string Assignment(const std::string& name, const std::string& value) {
  std::string text = name;
  text += '=';
  return text += value;
}

void WriteFacts(json::Writer& writer, const image::LayerFacts& facts) {
  writer.Member("entries", facts.entries).Member("files", facts.files);
  writer.Member("bytes", facts.bytes).Member("whiteouts", facts.whiteouts.size());
  writer.Member("devices_left_out", facts.devices).Member("set_ids_dropped", facts.set_ids);
  writer.Member("owners_squashed", facts.owners);
}

// `facts` is empty where the layers are not told in full.
void WriteImage(json::Writer& writer, const image::ImageRecord& record,
                const std::vector<image::LayerFacts>& facts) {
  writer.BeginObject().Member("name", record.name);
  writer.Member("manifest", record.manifest.ToString()).Key("index");
  if (record.index) {
    writer.String(record.index->ToString());
  } else {
    writer.Null();
  }
  writer.Member("config_digest", record.config_digest.ToString());
  writer.Member("chain_id", record.chain_id.ToString());
  writer.Member("platform", record.config.platform.ToString());
  writer.Member("size", record.size).Member("imported", UtcTime(record.imported));
  writer.Member("source", record.source).Key("layers").BeginArray();
  for (std::size_t at = 0; at < record.layers.size(); ++at) {
    const image::RecordedLayer& layer = record.layers[at];
    writer.BeginObject().Member("digest", layer.digest.ToString());
    writer.Member("diff_id", layer.diff_id.ToString()).Member("size", layer.size);
    if (at < facts.size()) WriteFacts(writer, facts[at]);
    writer.EndObject();
  }
  writer.EndArray().Key("config").BeginObject();
  writer.Key("entrypoint").Strings(record.config.entrypoint);
  writer.Key("cmd").Strings(record.config.cmd).Key("env").BeginArray();
  for (const auto& [name, value] : record.config.env)
    writer.String(Assignment(name, value));
  writer.EndArray().Member("user", record.config.user);
  writer.Member("working_dir", record.config.working_dir).EndObject().EndObject();
}

// What unpacking left out or changed: "  (2 devices left out, 1 owners squashed)".
std::string Remarks(const image::LayerFacts& facts) {
  std::string text;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count != 0) text += (text.empty() ? "  (" : ", ") + std::to_string(count) + what;
  };
  add(facts.devices, " devices left out");
  add(facts.set_ids, " set-ids dropped");
  add(facts.owners, " owners squashed");
  return text.empty() ? text : text + ")";
}

std::string QuoteAll(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + Quote(word);
  return text;
}

// "1 image", "2 images".
std::string Count(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string Line(const std::string& key, const std::string& value) {
  return Pad(key, 12) + value + "\n";
}

std::string NameOf(const image::ImageRecord& record) {
  return record.IsNameless() ? "<none>" : record.name;
}

// What a line of the table says to name the manifest; where there is no name, what rm takes.
std::string ManifestOf(const image::ImageRecord& record) {
  return record.IsNameless() ? record.manifest.ToString()
                             : record.manifest.Hex().substr(0, kShortDigest);
}

}  // namespace

std::string ImagesTable(const std::vector<image::ImageRecord>& records) {
  std::size_t name = 4;
  std::size_t manifest = kShortDigest;
  for (const image::ImageRecord& record : records) {
    name = std::max(name, NameOf(record).size());
    manifest = std::max(manifest, ManifestOf(record).size());
  }
  std::string text =
      Pad("NAME", name + 2) + Pad("MANIFEST", manifest + 2) + Pad("SIZE", 10) + "IMPORTED\n";
  for (const image::ImageRecord& record : records) {
    text += Pad(NameOf(record), name + 2) + Pad(ManifestOf(record), manifest + 2) +
            Pad(HumanSize(record.size), 10) + UtcTime(record.imported) + "\n";
  }
  return text;
}

std::string ImagesJson(const std::vector<image::ImageRecord>& records) {
  json::Writer writer(json::Writer::Style::kIndented);
  writer.BeginObject().Key("images").BeginArray();
  for (const image::ImageRecord& record : records)
    WriteImage(writer, record, {});
  return writer.EndArray().EndObject().Take() + "\n";
}

std::string ImageText(const image::ImageRecord& record,
                      const std::vector<image::LayerFacts>& facts) {
  const oci::ImageConfig& config = record.config;
  std::string text = Line("name", NameOf(record)) + Line("manifest", record.manifest.ToString());
  if (record.index) text += Line("index", record.index->ToString());
  text += Line("platform", Quote(config.platform.ToString())) +
          Line("size", HumanSize(record.size)) + Line("imported", UtcTime(record.imported)) +
          Line("source", Quote(record.source));
  for (std::size_t at = 0; at < record.layers.size(); ++at) {
    text += Line("layer", record.layers[at].digest.ToString() + "  " +
                              HumanSize(record.layers[at].size) + Remarks(facts[at]));
  }
  if (!config.entrypoint.empty()) text += Line("entrypoint", QuoteAll(config.entrypoint));
  if (!config.cmd.empty()) text += Line("cmd", QuoteAll(config.cmd));
  for (const auto& [name, value] : config.env)
    text += Line("env", Quote(Assignment(name, value)));
  if (!config.user.empty()) text += Line("user", Quote(config.user));
  if (!config.working_dir.empty()) text += Line("workdir", Quote(config.working_dir));
  return text;
}

std::string ImageJson(const image::ImageRecord& record,
                      const std::vector<image::LayerFacts>& facts) {
  json::Writer writer(json::Writer::Style::kIndented);
  WriteImage(writer, record, facts);
  return writer.Take() + "\n";
}

std::string RemovedText(const image::Removed& removed) {
  std::string text;
  for (const std::string& name : removed.names) {
    text += "removed ";
    text += name.substr(name.starts_with('@') ? 1 : 0) + "\n";
  }
  const image::Freed& freed = removed.freed;
  return text + "freed " + HumanSize(freed.Total()) + " (blobs " + HumanSize(freed.blobs) +
         ", layers " + HumanSize(freed.layers) + ", trees " + HumanSize(freed.trees) + ")\n";
}

std::string RemovedJson(const image::Removed& removed) {
  json::Writer writer(json::Writer::Style::kIndented);
  writer.BeginObject().Key("removed").Strings(removed.names);
  writer.Member("freed", removed.freed.Total()).Member("freed_blobs", removed.freed.blobs);
  writer.Member("freed_layers", removed.freed.layers);
  writer.Member("freed_trees", removed.freed.trees);
  return writer.EndObject().Take() + "\n";
}

std::string VerificationText(const image::Verification& verification) {
  std::string text;
  for (const std::string& problem : verification.problems)
    text += "differs: " + problem + "\n";
  return text + Count(verification.images.size(), "image") + ": " +
         Count(verification.blobs, "blob") + ", " + Count(verification.layers, "layer") + " and " +
         Count(verification.trees, "tree") + " verified, " +
         Count(verification.problems.size(), "difference") + "\n";
}

std::string VerificationJson(const image::Verification& verification) {
  json::Writer writer(json::Writer::Style::kIndented);
  writer.BeginObject().Key("images").Strings(verification.images);
  writer.Member("blobs", verification.blobs).Member("layers", verification.layers);
  writer.Member("trees", verification.trees);
  writer.Key("problems").Strings(verification.problems);
  return writer.EndObject().Take() + "\n";
}

}  // namespace plimsoll::cli
