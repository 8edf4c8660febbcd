// Image indexes and image manifests, of OCI and of Docker (version 2, schema 2).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "oci/descriptor.h"

namespace plimsoll::oci {

// An image for several platforms, or the index.json of a layout.
struct ImageIndex {
  std::vector<Descriptor> manifests;
};

// One image: its configuration and its layers, lowest first.
struct Manifest {
  Descriptor config;
  std::vector<Descriptor> layers;
};

// Both take the document's text and the name that messages call it by. Members that the
// specifications do not name are ignored, as they demand. Errors: kProtocol; kUnsupported for
// schema version 1, and for a manifest whose config or layers are of another kind than an image's.
Result<ImageIndex> ParseImageIndex(std::string text, std::string name);
Result<Manifest> ParseManifest(std::string text, std::string name);

// The manifest as one line, for images that come without one. Always the same bytes.
std::string FormatManifest(const Manifest& manifest);

// The most manifests in an index and layers in a manifest that are read.
inline constexpr std::size_t kMaxManifests = 1024;
inline constexpr std::size_t kMaxLayers = 256;

}  // namespace plimsoll::oci
