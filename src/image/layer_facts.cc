#include "image/layer_facts.h"

#include <charconv>

#include "base/text.h"
#include "json/reader.h"
#include "json/writer.h"

namespace plimsoll::image {
namespace {

// A layer of only whiteouts, each with the longest name, stays below this.
constexpr json::ReadLimits kReadLimits = {.bytes = std::size_t{1} << 30U, .depth = 4};

void WritePaths(json::Writer& writer, std::string_view name,
                const std::vector<std::string>& paths) {
  writer.Key(name).BeginArray();
  for (const std::string& path : paths)
    writer.String(EncodePath(path));
  writer.EndArray();
}

Result<std::vector<std::string>> ReadPaths(const json::Value& root, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, root.Member(name));
  PLIMSOLL_TRY_ASSIGN(std::vector<std::string> paths, value.Strings());
  for (std::string& path : paths)
    path = DecodePath(path);
  return paths;
}

Result<std::uint64_t> ReadCount(const json::Value& root, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, root.Member(name));
  return value.Uint();
}

}  // namespace

std::string EncodePath(std::string_view path) {
  const bool utf8 = IsUtf8(path);
  std::string text;
  for (const char byte : path) {
    if (byte == '%' || (!utf8 && static_cast<unsigned char>(byte) > 0x7F)) {
      text += "%" + Hex(std::string_view(&byte, 1));
    } else {
      text += byte;
    }
  }
  return text;
}

std::string DecodePath(std::string_view text) {
  std::string path;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned code = 0;
    const char* digits = text.data() + at + 1;
    if (text[at] == '%' && at + 2 < text.size() &&
        std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
      path += static_cast<char>(code);
      at += 2;
    } else {
      path += text[at];
    }
  }
  return path;
}

std::string FormatLayerFacts(const LayerFacts& facts) {
  json::Writer writer(json::Writer::Style::kIndented);
  writer.BeginObject().Member("version", 1).Member("entries", facts.entries);
  writer.Member("files", facts.files).Member("bytes", facts.bytes);
  writer.Member("devices", facts.devices).Member("set_ids", facts.set_ids);
  writer.Member("owners", facts.owners);
  WritePaths(writer, "whiteouts", facts.whiteouts);
  WritePaths(writer, "opaque", facts.opaque);
  WritePaths(writer, "implied", facts.implied);
  writer.Key("links").BeginArray();
  for (const auto& [path, target] : facts.links) {
    writer.Strings({EncodePath(path), EncodePath(target)});
  }
  return writer.EndArray().EndObject().Take() + "\n";
}

Result<LayerFacts> ParseLayerFacts(std::string text, std::string name) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document,
                      json::Parse(std::move(text), std::move(name), kReadLimits));
  const json::Value root = document.Root();
  PLIMSOLL_TRY(root.OnlyMembers({"version", "entries", "files", "bytes", "devices", "set_ids",
                                 "owners", "whiteouts", "opaque", "implied", "links"}));
  LayerFacts facts;
  PLIMSOLL_TRY_ASSIGN(facts.entries, ReadCount(root, "entries"));
  PLIMSOLL_TRY_ASSIGN(facts.files, ReadCount(root, "files"));
  PLIMSOLL_TRY_ASSIGN(facts.bytes, ReadCount(root, "bytes"));
  PLIMSOLL_TRY_ASSIGN(facts.devices, ReadCount(root, "devices"));
  PLIMSOLL_TRY_ASSIGN(facts.set_ids, ReadCount(root, "set_ids"));
  PLIMSOLL_TRY_ASSIGN(facts.owners, ReadCount(root, "owners"));
  PLIMSOLL_TRY_ASSIGN(facts.whiteouts, ReadPaths(root, "whiteouts"));
  PLIMSOLL_TRY_ASSIGN(facts.opaque, ReadPaths(root, "opaque"));
  PLIMSOLL_TRY_ASSIGN(facts.implied, ReadPaths(root, "implied"));
  PLIMSOLL_TRY_ASSIGN(const json::Value links, root.Member("links"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> pairs, links.Array());
  for (const json::Value& pair : pairs) {
    PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> both, pair.Strings());
    if (both.size() != 2) return pair.Complaint("expected the new name and the existing one");
    facts.links.emplace_back(DecodePath(both[0]), DecodePath(both[1]));
  }
  return facts;
}

}  // namespace plimsoll::image
