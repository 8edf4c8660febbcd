// Descriptors: what an image's documents say about their blobs. (OCI image specification,
// descriptor.md; Docker's distribution format, version 2 schema 2, is the same in other words.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "json/reader.h"
#include "json/writer.h"
#include "oci/digest.h"

namespace plimsoll::oci {

inline constexpr std::string_view kIndexType = "application/vnd.oci.image.index.v1+json";
inline constexpr std::string_view kManifestType = "application/vnd.oci.image.manifest.v1+json";
inline constexpr std::string_view kConfigType = "application/vnd.oci.image.config.v1+json";
inline constexpr std::string_view kLayerType = "application/vnd.oci.image.layer.v1.tar";

// True for the media types of either format.
bool IsIndexType(std::string_view media_type);
bool IsManifestType(std::string_view media_type);
bool IsConfigType(std::string_view media_type);
// A tar, plain, gzip or zstd. Which of them is decided by its first bytes, not by this name.
bool IsLayerType(std::string_view media_type);

struct Platform {
  std::string os;
  std::string architecture;
  std::string variant;

  std::string ToString() const;  // "linux/amd64", "linux/arm/v7"
  bool operator==(const Platform&) const = default;
};

struct Descriptor {
  std::string media_type;
  Digest digest;
  std::uint64_t size = 0;
  std::optional<Platform> platform;
  std::string ref_name;    // annotation org.opencontainers.image.ref.name
  std::string image_name;  // annotation io.containerd.image.name
};

Result<Descriptor> ReadDescriptor(const json::Value& value);
// {"mediaType":...,"digest":...,"size":...}
void WriteDescriptor(json::Writer& writer, const Descriptor& descriptor);

// The digest in a string value; the error says where it stands.
Result<Digest> ReadDigest(const json::Value& value);

}  // namespace plimsoll::oci
