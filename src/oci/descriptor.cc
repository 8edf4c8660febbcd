#include "oci/descriptor.h"

#include <algorithm>
#include <array>

namespace plimsoll::oci {
namespace {

constexpr std::array<std::string_view, 2> kIndexTypes = {
    kIndexType, "application/vnd.docker.distribution.manifest.list.v2+json"};
constexpr std::array<std::string_view, 2> kManifestTypes = {
    kManifestType, "application/vnd.docker.distribution.manifest.v2+json"};
constexpr std::array<std::string_view, 2> kConfigTypes = {
    kConfigType, "application/vnd.docker.container.image.v1+json"};
constexpr std::array<std::string_view, 8> kLayerTypes = {
    kLayerType,
    "application/vnd.oci.image.layer.v1.tar+gzip",
    "application/vnd.oci.image.layer.v1.tar+zstd",
    "application/vnd.oci.image.layer.nondistributable.v1.tar",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+zstd",
    "application/vnd.docker.image.rootfs.diff.tar",
    "application/vnd.docker.image.rootfs.diff.tar.gzip"};

template <std::size_t Size>
bool IsOneOf(const std::array<std::string_view, Size>& types, std::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// The string member `name`, empty when it is not there.
Result<std::string> Text(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const auto value, object.Find(name));
  if (!value) return std::string();
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value->String());
  return std::string(text);
}

Result<Platform> ReadPlatform(const json::Value& value) {
  Platform platform;
  PLIMSOLL_TRY_ASSIGN(platform.os, Text(value, "os"));
  PLIMSOLL_TRY_ASSIGN(platform.architecture, Text(value, "architecture"));
  PLIMSOLL_TRY_ASSIGN(platform.variant, Text(value, "variant"));
  return platform;
}

}  // namespace

bool IsIndexType(std::string_view media_type) {
  return IsOneOf(kIndexTypes, media_type);
}
bool IsManifestType(std::string_view media_type) {
  return IsOneOf(kManifestTypes, media_type);
}
bool IsConfigType(std::string_view media_type) {
  return IsOneOf(kConfigTypes, media_type);
}
bool IsLayerType(std::string_view media_type) {
  return IsOneOf(kLayerTypes, media_type);
}

std::string Platform::ToString() const {
  std::string text = os + "/" + architecture;
  if (!variant.empty()) text += "/" + variant;
  return text;
}

Result<Digest> ReadDigest(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  auto digest = ParseDigest(text);
  if (!digest) {
    Error error = value.Complaint(digest.error().what);
    error.kind = digest.error().kind == ErrorKind::kUnsupported ? ErrorKind::kUnsupported
                                                                : ErrorKind::kProtocol;
    return error;
  }
  return digest;
}

Result<Descriptor> ReadDescriptor(const json::Value& value) {
  Descriptor descriptor;
  PLIMSOLL_TRY_ASSIGN(descriptor.media_type, Text(value, "mediaType"));
  PLIMSOLL_TRY_ASSIGN(const json::Value digest, value.Member("digest"));
  PLIMSOLL_TRY_ASSIGN(descriptor.digest, ReadDigest(digest));
  PLIMSOLL_TRY_ASSIGN(const json::Value size, value.Member("size"));
  PLIMSOLL_TRY_ASSIGN(descriptor.size, size.Uint(INT64_MAX));
  PLIMSOLL_TRY_ASSIGN(const auto platform, value.Find("platform"));
  if (platform) {
    PLIMSOLL_TRY_ASSIGN(descriptor.platform, ReadPlatform(*platform));
  }
  PLIMSOLL_TRY_ASSIGN(const auto annotations, value.Find("annotations"));
  if (annotations) {
    PLIMSOLL_TRY_ASSIGN(descriptor.ref_name,
                        Text(*annotations, "org.opencontainers.image.ref.name"));
    PLIMSOLL_TRY_ASSIGN(descriptor.image_name, Text(*annotations, "io.containerd.image.name"));
  }
  return descriptor;
}

void WriteDescriptor(json::Writer& writer, const Descriptor& descriptor) {
  writer.BeginObject();
  writer.Member("mediaType", descriptor.media_type);
  writer.Member("digest", descriptor.digest.ToString());
  writer.Member("size", descriptor.size);
  writer.EndObject();
}

}  // namespace plimsoll::oci
