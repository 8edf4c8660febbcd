#include "image/remove.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <iterator>
#include <set>

#include "base/text.h"
#include "image/base_image.h"
#include "image/find.h"
#include "image/freed_bytes.h"
#include "image/record.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

// What the remaining records need, by the hexadecimal names in the store.
struct Needed {
  std::set<std::string> blobs;
  std::set<std::string> layers;
  std::set<std::string> trees;
};

Result<Needed> NeededBy(const std::vector<ImageRecord>& records) {
  PLIMSOLL_TRY_ASSIGN(const BaseImage base, EmbeddedImage());
  Needed needed;
  needed.layers.insert(base.diff_id.Hex());
  needed.trees.insert(base.diff_id.Hex());
  for (const ImageRecord& record : records) {
    needed.blobs.insert({record.manifest.Hex(), record.config_digest.Hex()});
    if (record.index) needed.blobs.insert(record.index->Hex());
    needed.trees.insert(record.chain_id.Hex());
    for (const RecordedLayer& layer : record.layers) {
      needed.blobs.insert(layer.digest.Hex());
      needed.layers.insert(layer.diff_id.Hex());
    }
  }
  return needed;
}

// The tree's lock, held alone; closed when a run has it. A tree without a lock is one whose making
// or removing was cut short, and nobody's.
Result<sys::UniqueFd> TryLockTree(const Store& store, const std::string& hex) {
  auto lock = sys::OpenAt(store.Root(), "trees/" + hex + "/lock", O_RDONLY | O_NOFOLLOW);
  if (!lock) return std::move(lock).error();
  if (::flock(lock->Get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return sys::ErrnoError("flock the lock of tree " + hex);
  return sys::UniqueFd();
}

// rootfs is taken out under the lock before anything of it is removed: see OpenReadyTree. Returns
// what becomes free; here and below it is counted while it is still there.
Result<std::uint64_t> RemoveTreeOf(const Store& store, const std::string& hex) {
  const std::string path = "trees/" + hex;
  const auto lock = TryLockTree(store, hex);
  if (!lock && lock.error().sys_errno != ENOENT) return lock.error();
  if (lock && !lock->IsOpen()) return 0;  // in use; the next removal takes it
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t freed, FreedBytes(store.Root(), path));
  PLIMSOLL_TRY_ASSIGN(const WorkDirectory work, WorkDirectory::Claim(store, "remove-" + hex));
  const std::string to = work.Path() + "/rootfs";
  if (::renameat(store.Root(), (path + "/rootfs").c_str(), store.Root(), to.c_str()) != 0 &&
      errno != ENOENT) {
    return sys::ErrnoError("rename " + Quote(path + "/rootfs"));
  }
  PLIMSOLL_TRY(sys::RemoveTree(store.Root(), path));
  return freed;
}

Result<std::uint64_t> RemoveLayerOf(const Store& store, const std::string& hex) {
  PLIMSOLL_TRY_ASSIGN(const WorkDirectory work, WorkDirectory::Claim(store, "remove-" + hex));
  const std::string from = "layers/" + hex;
  const std::string to = work.Path() + "/layer";
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t freed, FreedBytes(store.Root(), from));
  if (::renameat(store.Root(), from.c_str(), store.Root(), to.c_str()) != 0) {
    return sys::ErrnoError("rename " + Quote(from));
  }
  return freed;
}

Result<std::uint64_t> RemoveFile(const Store& store, const std::string& path) {
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t freed, FreedBytes(store.Root(), path));
  PLIMSOLL_TRY(sys::RemoveTree(store.Root(), path));
  return freed;
}

// Calls `remove` for every name in `folder` that is not in `needed`; the sum of what it returns.
Result<std::uint64_t> ForOthers(
    const Store& store, const std::string& folder, const std::set<std::string>& needed,
    const std::function<Result<std::uint64_t>(const std::string&)>& remove) {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd dir,
                      sys::OpenAt(store.Root(), folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> names, sys::ListDirectory(dir.Get(), folder));
  std::uint64_t freed = 0;
  for (const std::string& name : names) {
    if (needed.count(name) != 0) continue;
    PLIMSOLL_TRY_ASSIGN(const std::uint64_t bytes, remove(name));
    freed += bytes;
  }
  return freed;
}

// The caller holds the store's exclusive lock. Trees go before the layers that they are linked to,
// so that a layer's files have no other name when they are counted.
Result<Freed> Collect(const Store& store, const std::vector<ImageRecord>& records) {
  PLIMSOLL_TRY_ASSIGN(const Needed needed, NeededBy(records));
  Freed freed;
  PLIMSOLL_TRY_ASSIGN(freed.trees, ForOthers(store, "trees", needed.trees, [&](const auto& hex) {
                        return RemoveTreeOf(store, hex);
                      }));
  PLIMSOLL_TRY_ASSIGN(freed.layers, ForOthers(store, "layers", needed.layers, [&](const auto& hex) {
                        return RemoveLayerOf(store, hex);
                      }));
  PLIMSOLL_TRY_ASSIGN(freed.blobs,
                      ForOthers(store, "blobs/sha256", needed.blobs, [&](const auto& hex) {
                        return RemoveFile(store, "blobs/sha256/" + hex);
                      }));
  // What is remembered of archive files points to records; it is made again when it is missed.
  PLIMSOLL_TRY(ForOthers(store, "archives", {},
                         [&](const auto& name) { return RemoveFile(store, "archives/" + name); }));
  return freed;
}

bool Has(const ImageRecord& record, const oci::Digest& digest) {
  return record.manifest == digest || record.index == digest;
}

// What a run by path has kept of the image goes to `gone` unless a name of it stays in `kept`.
void TakeNameless(std::vector<ImageRecord>& kept, std::vector<ImageRecord>& gone,
                  const oci::Digest& manifest) {
  const bool named = std::any_of(kept.begin(), kept.end(), [&](const ImageRecord& record) {
    return record.manifest == manifest && !record.IsNameless();
  });
  if (named) return;
  const auto first = std::stable_partition(
      kept.begin(), kept.end(), [&](const auto& record) { return record.manifest != manifest; });
  std::move(first, kept.end(), std::back_inserter(gone));
  kept.erase(first, kept.end());
}

// Splits `records` into what goes (returned) and what stays (left in `records`).
Result<std::vector<ImageRecord>> TakeOut(std::vector<ImageRecord>& records,
                                         const oci::ImageReference& reference,
                                         const oci::Digest& manifest) {
  std::vector<ImageRecord> gone;
  std::vector<ImageRecord> kept;
  bool other_tag = false;  // of the same name, with the same manifest
  for (ImageRecord& record : records) {
    PLIMSOLL_TRY_ASSIGN(const oci::ImageReference own, oci::ParseStoreName(record.name));
    const bool same =
        (reference.name.empty() || own.name == reference.name) && record.manifest == manifest;
    if (same && !reference.digest && !own.digest && own != reference) other_tag = true;
    const bool goes =
        own == reference ||
        (same && (reference.digest ? Has(record, *reference.digest) : own.digest.has_value()));
    (goes ? gone : kept).push_back(std::move(record));
  }
  if (other_tag) {  // the pins stay with it
    for (auto it = gone.begin(); it != gone.end();) {
      if (it->name == reference.ToString()) {
        ++it;
        continue;
      }
      kept.push_back(std::move(*it));
      it = gone.erase(it);
    }
  }
  if (!reference.name.empty()) TakeNameless(kept, gone, manifest);
  records = std::move(kept);
  return gone;
}

}  // namespace

Freed& Freed::operator+=(const Freed& other) {
  blobs += other.blobs;
  layers += other.layers;
  trees += other.trees;
  return *this;
}

Result<Removed> RemoveImage(const Store& store, const oci::ImageReference& reference) {
  PLIMSOLL_TRY_ASSIGN(const ImageRecord record, FindImage(store.Path(), reference, {}));
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd lock, store.LockExclusive());
  PLIMSOLL_TRY_ASSIGN(std::vector<ImageRecord> records, ListRecords(store));
  PLIMSOLL_TRY_ASSIGN(const std::vector<ImageRecord> gone,
                      TakeOut(records, reference, record.manifest));
  PLIMSOLL_TRY_ASSIGN(const Needed needed, NeededBy(records));
  if (needed.trees.count(record.chain_id.Hex()) == 0) {
    auto taken = TryLockTree(store, record.chain_id.Hex());
    if (taken && !taken->IsOpen()) {
      return Error{.kind = ErrorKind::kEnvironment,
                   .what = "image " + Quote(record.name) + " is in use by a run",
                   .hint = "remove it when the run has ended"};
    }
  }
  Removed removed;
  for (const ImageRecord& one : gone) {
    PLIMSOLL_TRY(RemoveRecord(store, one));
    removed.names.push_back(one.name);
  }
  PLIMSOLL_TRY_ASSIGN(removed.freed, Collect(store, records));
  return removed;
}

}  // namespace plimsoll::image
