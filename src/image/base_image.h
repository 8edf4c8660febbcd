// The image that is embedded in the binary: a static busybox (images/base).
#pragma once

#include <string_view>

#include "base/error.h"
#include "oci/digest.h"
#include "oci/image_config.h"

namespace plimsoll::image {

struct BaseImage {
  oci::ImageConfig config;
  oci::Digest manifest;
  oci::Digest layer;      // of the compressed layer
  oci::Digest diff_id;    // of its tar; with a single layer the ChainID is the same
  std::string_view blob;  // the compressed layer, in the binary
};

// Reads the constants that the build made; fails only when the build was wrong.
Result<BaseImage> EmbeddedImage();

// The image's configuration as its document, which `config` above says again so that no run has to
// parse it.
std::string_view EmbeddedConfig();

}  // namespace plimsoll::image
