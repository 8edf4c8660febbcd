#include "image/rootfs.h"

#include <fcntl.h>

#include <filesystem>
#include <optional>

#include "image/base_image.h"
#include "image/layer.h"
#include "image/store.h"
#include "image/tree.h"
#include "oci/reference.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

// How often a tree may vanish between being made and being opened, which takes somebody who removes
// images all the time.
constexpr int kAttempts = 10;

Result<void> MakeBaseTree(const std::string& store_path, const BaseImage& base) {
  PLIMSOLL_TRY_ASSIGN(const Store store, Store::Open(store_path));
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd lock, store.LockShared());
  PLIMSOLL_TRY(EnsureLayer(store, base.diff_id,
                           {.bytes = base.blob, .name = "of the embedded image"}, base.layer, {}));
  return EnsureTree(store, base.diff_id, {base.diff_id});
}

}  // namespace

Result<Rootfs> PrepareRootfs(const std::string& store_path, const std::string& reference) {
  if (!reference.empty()) {
    return Error{.kind = ErrorKind::kEnvironment, .what = "image '" + reference + "' is unknown"};
  }
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(store_path, error).string();
  if (error) return sys::ErrnoError("getcwd", error.value());
  if (HasTemporary(absolute)) {
    PLIMSOLL_TRY_ASSIGN(const Store store, Store::Open(absolute));
    PLIMSOLL_TRY(store.SweepTemporary());
  }
  PLIMSOLL_TRY_ASSIGN(BaseImage base, EmbeddedImage());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    PLIMSOLL_TRY_ASSIGN(std::optional<OpenTree> tree, OpenReadyTree(absolute, base.diff_id));
    if (tree) {
      return Rootfs{.tree = std::move(tree->root),
                    .tree_path = absolute + "/" + TreePath(base.diff_id) + "/rootfs",
                    .lock = std::move(tree->lock),
                    .config = std::move(base.config),
                    .manifest = base.manifest,
                    .environment = "oci-image:" + base.manifest.ToString()};
    }
    PLIMSOLL_TRY(MakeBaseTree(absolute, base));
  }
  return Error{.kind = ErrorKind::kEnvironment,
               .what = "the embedded image's tree is removed as fast as it is made"};
}

}  // namespace plimsoll::image
