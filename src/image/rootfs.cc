#include "image/rootfs.h"

#include <fcntl.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "image/base_image.h"
#include "image/find.h"
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

Result<void> MakeBaseTree(const Store& store, const BaseImage& base, const Limits& limits) {
  const BlobSource blob = {.fd = -1, .bytes = base.blob, .name = "of the embedded image"};
  PLIMSOLL_TRY(EnsureLayer(store, base.diff_id, blob, base.layer, limits));
  return EnsureTree(store, base.diff_id, {base.diff_id});
}

// From the blobs of the store, when layers or tree were removed.
Result<void> MakeTree(const Store& store, const ImageRecord& record, const Limits& limits) {
  for (const RecordedLayer& layer : record.layers) {
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd,
                        sys::OpenAt(store.Root(), BlobPath(layer.digest), O_RDONLY | O_NOFOLLOW));
    const BlobSource blob = {.fd = fd.Get(), .bytes = {}, .name = layer.digest.ToString()};
    PLIMSOLL_TRY(EnsureLayer(store, layer.diff_id, blob, layer.digest, limits));
  }
  return EnsureTree(store, record.chain_id, record.config.diff_ids);
}

Result<OpenTree> OpenOrMake(const std::string& store_path, const oci::Digest& chain_id,
                            const std::function<Result<void>(const Store&)>& make) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    PLIMSOLL_TRY_ASSIGN(std::optional<OpenTree> tree, OpenReadyTree(store_path, chain_id));
    if (tree) return *std::move(tree);
    PLIMSOLL_TRY_ASSIGN(const Store store, Store::Open(store_path));
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd lock, store.LockShared());
    PLIMSOLL_TRY(make(store));
  }
  return Error{.kind = ErrorKind::kEnvironment,
               .what = "the image's tree is removed as fast as it is made"};
}

Rootfs MakeRootfs(const std::string& store_path, const oci::Digest& chain_id, OpenTree tree) {
  return {.tree = std::move(tree.root),
          .tree_path = store_path + "/" + TreePath(chain_id) + "/rootfs",
          .lock = std::move(tree.lock),
          .config = {},
          .manifest = {},
          .environment = {}};
}

Result<Rootfs> PrepareBase(const std::string& store_path, const Limits& limits) {
  PLIMSOLL_TRY_ASSIGN(BaseImage base, EmbeddedImage());
  PLIMSOLL_TRY_ASSIGN(OpenTree tree, OpenOrMake(store_path, base.diff_id, [&](const Store& store) {
                        return MakeBaseTree(store, base, limits);
                      }));
  Rootfs rootfs = MakeRootfs(store_path, base.diff_id, std::move(tree));
  rootfs.config = std::move(base.config);
  rootfs.manifest = base.manifest;
  rootfs.environment = "oci-image:" + base.manifest.ToString();
  return rootfs;
}

}  // namespace

Result<Rootfs> PrepareRootfs(const std::string& store_path, const std::string& reference,
                             const ImportOptions& options) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(store_path, error).string();
  if (error) return sys::ErrnoError("getcwd", error.value());
  if (HasTemporary(absolute)) {
    PLIMSOLL_TRY_ASSIGN(const Store store, Store::Open(absolute));
    (void)store.SweepTemporary();  // what cannot be removed is no reason not to run
  }
  if (reference.empty()) return PrepareBase(absolute, options.limits);
  PLIMSOLL_TRY_ASSIGN(const oci::ImageReference parsed, oci::ParseReference(reference));
  PLIMSOLL_TRY_ASSIGN(ImageRecord record, FindImage(absolute, parsed, options));
  PLIMSOLL_TRY_ASSIGN(OpenTree tree, OpenOrMake(absolute, record.chain_id, [&](const Store& store) {
                        return MakeTree(store, record, options.limits);
                      }));
  Rootfs rootfs = MakeRootfs(absolute, record.chain_id, std::move(tree));
  rootfs.environment = record.Environment();
  rootfs.manifest = record.manifest;
  rootfs.config = std::move(record.config);
  return rootfs;
}

std::string SoftwareIdentity(const Rootfs& rootfs) {
  return "oci-manifest:linux/amd64@" + rootfs.manifest.ToString();
}

}  // namespace plimsoll::image
