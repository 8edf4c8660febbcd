#include "oci/manifest.h"

#include <utility>

#include "base/text.h"

namespace plimsoll::oci {
namespace {

// Checks schemaVersion and, when there is one, the document's own mediaType.
Result<void> CheckHead(const json::Value& root, bool (*is_type)(std::string_view)) {
  PLIMSOLL_TRY_ASSIGN(const json::Value version, root.Member("schemaVersion"));
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t number, version.Uint());
  if (number != 2) {
    Error error = version.Complaint("schema version " + std::to_string(number) + " is not read");
    error.kind = ErrorKind::kUnsupported;
    error.hint = "only version 2 has content digests; save the image again with a current tool";
    return error;
  }
  PLIMSOLL_TRY_ASSIGN(const auto type, root.Find("mediaType"));
  if (!type) return {};
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, type->String());
  if (!is_type(text)) return type->Complaint("media type " + Quote(text) + " is not expected here");
  return {};
}

Result<std::vector<Descriptor>> ReadDescriptors(const json::Value& root, std::string_view name,
                                                std::size_t limit) {
  PLIMSOLL_TRY_ASSIGN(const json::Value array, root.Member(name));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> items, array.Array());
  if (items.size() > limit) {
    Error error = array.Complaint("has " + std::to_string(items.size()) + " items, more than the " +
                                  std::to_string(limit) + " allowed");
    error.kind = ErrorKind::kCapacity;
    return error;
  }
  std::vector<Descriptor> descriptors;
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(Descriptor descriptor, ReadDescriptor(item));
    descriptors.push_back(std::move(descriptor));
  }
  return descriptors;
}

Error NotAnImage(const json::Value& value, const Descriptor& descriptor, std::string_view what) {
  Error error = value.Complaint("media type " + Quote(descriptor.media_type) + " is no image " +
                                std::string(what));
  error.kind = ErrorKind::kUnsupported;
  return error;
}

}  // namespace

Result<ImageIndex> ParseImageIndex(std::string text, std::string name) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document, json::Parse(std::move(text), std::move(name)));
  PLIMSOLL_TRY(CheckHead(document.Root(), &IsIndexType));
  ImageIndex index;
  PLIMSOLL_TRY_ASSIGN(index.manifests,
                      ReadDescriptors(document.Root(), "manifests", kMaxManifests));
  return index;
}

Result<Manifest> ParseManifest(std::string text, std::string name) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document, json::Parse(std::move(text), std::move(name)));
  const json::Value root = document.Root();
  PLIMSOLL_TRY(CheckHead(root, &IsManifestType));
  Manifest manifest;
  PLIMSOLL_TRY_ASSIGN(const json::Value config, root.Member("config"));
  PLIMSOLL_TRY_ASSIGN(manifest.config, ReadDescriptor(config));
  if (!IsConfigType(manifest.config.media_type)) {
    return NotAnImage(config, manifest.config, "configuration");
  }
  PLIMSOLL_TRY_ASSIGN(manifest.layers, ReadDescriptors(root, "layers", kMaxLayers));
  PLIMSOLL_TRY_ASSIGN(const json::Value layers, root.Member("layers"));
  for (const Descriptor& layer : manifest.layers) {
    if (!IsLayerType(layer.media_type)) return NotAnImage(layers, layer, "layer");
  }
  return manifest;
}

std::string FormatManifest(const Manifest& manifest) {
  json::Writer writer;
  writer.BeginObject().Member("schemaVersion", 2).Member("mediaType", kManifestType);
  writer.Key("config");
  WriteDescriptor(writer, manifest.config);
  writer.Key("layers").BeginArray();
  for (const Descriptor& layer : manifest.layers)
    WriteDescriptor(writer, layer);
  return writer.EndArray().EndObject().Take();
}

}  // namespace plimsoll::oci
