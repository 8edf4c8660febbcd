#include "image/base_image.h"

#include "image/base_image_data.h"

// Named by the linker's own rules (scripts/build.cmake, plimsoll_embed), hence no namespace.
extern "C" {
extern const unsigned char plimsoll_base_layer[];
extern const unsigned char plimsoll_base_layer_end[];
}

namespace plimsoll::image {

Result<BaseImage> EmbeddedImage() {
  BaseImage base;
  PLIMSOLL_TRY_ASSIGN(base.manifest, oci::ParseDigest(kBaseManifestDigest));
  PLIMSOLL_TRY_ASSIGN(base.layer, oci::ParseDigest(kBaseLayerDigest));
  PLIMSOLL_TRY_ASSIGN(base.diff_id, oci::ParseDigest(kBaseDiffId));
  base.config = {.platform = {.os = "linux", .architecture = "amd64", .variant = {}},
                 .entrypoint = {},
                 .cmd = {std::string(kBaseCommand)},
                 .env = {{"PATH", std::string(kBasePath)}},
                 .user = {},
                 .working_dir = {},
                 .diff_ids = {base.diff_id}};
  base.blob = {reinterpret_cast<const char*>(plimsoll_base_layer),
               static_cast<std::size_t>(plimsoll_base_layer_end - plimsoll_base_layer)};
  return base;
}

std::string_view EmbeddedConfig() {
  return kBaseConfig;
}

}  // namespace plimsoll::image
