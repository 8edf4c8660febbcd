#include "image/tree.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "crypto/sha256.h"
#include "image/layer_facts.h"
#include "image/merge.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::size_t kMaxFactsBytes = std::size_t{1} << 30U;

Result<bool> IsReadable(const std::string& store_path) {
  const sys::UniqueFd fd(::open((store_path + "/version").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.IsOpen()) return false;
  std::array<char, 64> text = {};
  const ssize_t size = ::read(fd.Get(), text.data(), text.size());
  PLIMSOLL_TRY(CheckStoreVersion({text.data(), size > 0 ? static_cast<std::size_t>(size) : 0}));
  return true;
}

bool HasTree(const Store& store, const oci::Digest& chain_id) {
  return sys::StatAt(store.Root(), TreePath(chain_id) + "/rootfs").has_value();
}

}  // namespace

Result<MergeLayer> OpenLayer(const Store& store, const oci::Digest& diff_id) {
  const std::string path = LayerPath(diff_id);
  MergeLayer layer;
  layer.name = diff_id.ToString();
  PLIMSOLL_TRY_ASSIGN(
      layer.root, sys::OpenAt(store.Root(), path + "/rootfs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd json,
                      sys::OpenAt(store.Root(), path + "/layer.json", O_RDONLY | O_NOFOLLOW));
  PLIMSOLL_TRY_ASSIGN(std::string text,
                      sys::ReadAll(json.Get(), kMaxFactsBytes, path + "/layer.json"));
  PLIMSOLL_TRY_ASSIGN(layer.facts, ParseLayerFacts(std::move(text), path + "/layer.json"));
  return layer;
}

Result<std::optional<OpenTree>> OpenReadyTree(const std::string& store_path,
                                              const oci::Digest& chain_id) {
  PLIMSOLL_TRY_ASSIGN(const bool readable, IsReadable(store_path));
  if (!readable) return std::optional<OpenTree>();
  const std::string path = store_path + "/" + TreePath(chain_id);
  const sys::UniqueFd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.IsOpen()) return std::optional<OpenTree>();
  OpenTree tree;
  tree.lock.Reset(::openat(directory.Get(), "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!tree.lock.IsOpen()) return std::optional<OpenTree>();
  while (::flock(tree.lock.Get(), LOCK_SH) != 0) {
    if (errno != EINTR) return sys::ErrnoError("flock " + Quote(path + "/lock"));
  }
  // Opened after the lock and in the very directory of the lock: whoever removes a tree first takes
  // rootfs out of it under the exclusive lock, so what is found here is whole and stays.
  tree.root.Reset(
      ::openat(directory.Get(), "rootfs", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!tree.root.IsOpen()) return std::optional<OpenTree>();
  return std::optional<OpenTree>(std::move(tree));
}

Result<void> EnsureTree(const Store& store, const oci::Digest& chain_id,
                        const std::vector<oci::Digest>& diff_ids) {
  if (HasTree(store, chain_id)) return {};
  PLIMSOLL_TRY_ASSIGN(const WorkDirectory work,
                      WorkDirectory::Claim(store, "tree-" + chain_id.Hex()));
  if (HasTree(store, chain_id)) return {};  // made by the one we waited for
  std::vector<MergeLayer> layers;
  for (const oci::Digest& diff_id : diff_ids) {
    PLIMSOLL_TRY_ASSIGN(MergeLayer layer, OpenLayer(store, diff_id));
    layers.push_back(std::move(layer));
  }
  PLIMSOLL_TRY(MergeLayers(layers, work.Fd()));
  const std::string path = TreePath(chain_id);
  if (::mkdirat(store.Root(), path.c_str(), 0700) != 0 && errno != EEXIST) {
    return sys::ErrnoError("mkdir " + Quote(path));
  }
  PLIMSOLL_TRY(sys::OpenAt(store.Root(), path + "/lock", O_RDONLY | O_CREAT | O_NOFOLLOW, 0600));
  const std::string from = work.Path() + "/rootfs";
  const std::string to = path + "/rootfs";
  if (::renameat(store.Root(), from.c_str(), store.Root(), to.c_str()) != 0) {
    return sys::ErrnoError("rename " + Quote(from) + " to " + Quote(to));
  }
  return {};
}

oci::Digest ChainId(const std::vector<oci::Digest>& diff_ids) {
  oci::Digest chain;
  for (std::size_t at = 0; at < diff_ids.size(); ++at) {
    chain = at == 0
                ? diff_ids[0]
                : oci::Digest{crypto::Sha256Of(chain.ToString() + " " + diff_ids[at].ToString())};
  }
  return chain;
}

}  // namespace plimsoll::image
