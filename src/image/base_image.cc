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
  PLIMSOLL_TRY_ASSIGN(base.config,
                      oci::ParseImageConfig(std::string(kBaseConfig), "embedded configuration"));
  PLIMSOLL_TRY_ASSIGN(base.manifest, oci::ParseDigest(kBaseManifestDigest));
  PLIMSOLL_TRY_ASSIGN(base.layer, oci::ParseDigest(kBaseLayerDigest));
  PLIMSOLL_TRY_ASSIGN(base.diff_id, oci::ParseDigest(kBaseDiffId));
  base.blob = {reinterpret_cast<const char*>(plimsoll_base_layer),
               static_cast<std::size_t>(plimsoll_base_layer_end - plimsoll_base_layer)};
  return base;
}

}  // namespace plimsoll::image
