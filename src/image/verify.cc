#include "image/verify.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "image/base_image.h"
#include "image/blob_stream.h"
#include "image/compare.h"
#include "image/find.h"
#include "image/layer.h"
#include "image/merge.h"
#include "image/tree.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::size_t kMaxDifferences = 20;  // told of one layer or tree

class Verifier {
 public:
  Verifier(const Store& store, const ImportOptions& options) : store_(store), options_(options) {}

  Result<void> Image(const ImageRecord& record) {
    if (counted_.insert(record.manifest).second) verification_.images.push_back(record.name);
    std::vector<oci::Digest> documents = {record.manifest, record.config_digest};
    if (record.index) documents.push_back(*record.index);
    for (const oci::Digest& digest : documents)
      PLIMSOLL_TRY(Document(digest));
    for (const RecordedLayer& layer : record.layers) {
      const std::string name = layer.digest.ToString();
      const auto fd = sys::OpenAt(store_.Root(), BlobPath(layer.digest), O_RDONLY | O_NOFOLLOW);
      if (!fd) {
        Problem("blob " + name, "is missing");
      } else {
        PLIMSOLL_TRY(
            Layer({.fd = fd->Get(), .bytes = {}, .name = name}, layer.digest, layer.diff_id));
      }
    }
    return Tree(record.chain_id, record.config.diff_ids);
  }

  Result<void> Base() {
    PLIMSOLL_TRY_ASSIGN(const BaseImage base, EmbeddedImage());
    if (!HasLayer(store_, base.diff_id)) return {};
    verification_.images.emplace_back("the embedded image");
    const BlobSource blob = {.fd = -1, .bytes = base.blob, .name = "of the embedded image"};
    PLIMSOLL_TRY(Layer(blob, base.layer, base.diff_id));
    return Tree(base.diff_id, {base.diff_id});
  }

  Verification Take() { return std::move(verification_); }

 private:
  // Names share blobs: what is wrong with one is told once.
  void Problem(const std::string& where, const std::string& what) {
    std::vector<std::string>& problems = verification_.problems;
    const std::string problem = where + ": " + what;
    if (std::find(problems.begin(), problems.end(), problem) == problems.end()) {
      problems.push_back(problem);
    }
  }

  bool IsThere(const std::string& path) const {
    return sys::StatAt(store_.Root(), path).has_value();
  }

  void Tell(const std::string& what) const {
    if (options_.progress) options_.progress({.what = what, .done = 0, .total = 0});
  }

  // An index, a manifest or a configuration.
  Result<void> Document(const oci::Digest& digest) {
    if (!seen_.insert("blob " + digest.Hex()).second) return {};
    ++verification_.blobs;
    const auto fd = sys::OpenAt(store_.Root(), BlobPath(digest), O_RDONLY | O_NOFOLLOW);
    if (!fd) {
      Problem("blob " + digest.ToString(), "is missing");
      return {};
    }
    const auto ignore = [](const BlockSource&) -> Result<void> { return {}; };
    const auto facts = ReadBlob({.fd = fd->Get(), .bytes = {}, .name = digest.ToString()},
                                options_.limits.layer_bytes, ignore);
    if (!facts) {
      Problem("blob " + digest.ToString(), facts.error().Message());
    } else if (facts->digest != digest) {
      Problem("blob " + digest.ToString(), "has the digest " + facts->digest.ToString());
    }
    return {};
  }

  Result<void> Layer(const BlobSource& blob, const oci::Digest& digest,
                     const oci::Digest& diff_id) {
    if (!seen_.insert("layer " + diff_id.Hex() + digest.Hex()).second) return {};
    Tell("verify layer " + blob.name);
    ++verification_.blobs;
    PLIMSOLL_TRY_ASSIGN(const WorkDirectory work,
                        WorkDirectory::Claim(store_, "verify-" + std::to_string(::getpid())));
    auto unpacked =
        UnpackLayer(blob, {.blob = digest, .diff_id = diff_id}, options_.limits, work.Fd());
    if (!unpacked && unpacked.error().kind == ErrorKind::kHost) return unpacked.error();
    if (!unpacked) {
      Problem("layer " + blob.name, unpacked.error().Message());
      return {};
    }
    ++verification_.layers;
    const std::string where = "layer " + diff_id.ToString();
    auto stored = OpenLayer(store_, diff_id);
    if (!stored && IsThere(LayerPath(diff_id))) Problem(where, stored.error().Message());
    if (stored && FormatLayerFacts(stored->facts) != FormatLayerFacts(unpacked->facts)) {
      Problem(where, "layer.json has other content");
    }
    return Compare(work.Fd(), LayerPath(diff_id), where);
  }

  Result<void> Tree(const oci::Digest& chain_id, const std::vector<oci::Digest>& diff_ids) {
    if (!seen_.insert("tree " + chain_id.Hex()).second) return {};
    std::vector<MergeLayer> layers;
    for (const oci::Digest& diff_id : diff_ids) {
      auto layer = OpenLayer(store_, diff_id);
      if (!layer && IsThere(TreePath(chain_id))) {
        Problem("tree " + chain_id.ToString(),
                "cannot be compared, since layer " + diff_id.ToString() + " is missing or damaged");
      }
      if (!layer) return {};
      layers.push_back(*std::move(layer));
    }
    Tell("verify tree " + chain_id.ToString());
    PLIMSOLL_TRY_ASSIGN(const WorkDirectory work,
                        WorkDirectory::Claim(store_, "verify-" + std::to_string(::getpid())));
    if (auto merged = MergeLayers(layers, work.Fd()); !merged) {
      Problem("tree " + chain_id.ToString(), merged.error().Message());
      return {};
    }
    ++verification_.trees;
    return Compare(work.Fd(), TreePath(chain_id), "tree " + chain_id.ToString());
  }

  // Compares rootfs in the directory `fresh` with rootfs at `path` of the store.
  Result<void> Compare(int fresh, const std::string& path, const std::string& where) {
    const auto found =
        sys::OpenAt(store_.Root(), path + "/rootfs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!found && IsThere(path)) Problem(where, "rootfs is missing, or is no directory");
    if (!found) return {};  // not unpacked yet, or removed: it is made again when it is needed
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd expected,
                        sys::OpenAt(fresh, "rootfs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> differences,
                        CompareTrees(expected.Get(), found->Get(), kMaxDifferences));
    for (const std::string& difference : differences)
      Problem(where, difference);
    return {};
  }

  const Store& store_;
  const ImportOptions& options_;
  std::set<std::string> seen_;     // images share blobs, layers and trees
  std::set<oci::Digest> counted_;  // a manifest with several names is one image
  Verification verification_;
};

}  // namespace

Result<Verification> VerifyImages(const Store& store,
                                  const std::optional<oci::ImageReference>& reference,
                                  const ImportOptions& options) {
  (void)store.SweepTemporary();  // what cannot be removed is not in the way of a look
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd lock, store.LockShared());
  Verifier verifier(store, options);
  if (reference) {
    PLIMSOLL_TRY_ASSIGN(const ImageRecord record, FindImage(store.Path(), *reference, options));
    PLIMSOLL_TRY(verifier.Image(record));
    return verifier.Take();
  }
  PLIMSOLL_TRY_ASSIGN(std::vector<ImageRecord> records, ListRecords(store));
  // An image is called by the first of its tags, and by a pin only where it has no tag.
  std::stable_partition(records.begin(), records.end(),
                        [](const auto& record) { return !record.IsPin(); });
  for (const ImageRecord& record : records)
    PLIMSOLL_TRY(verifier.Image(record));
  PLIMSOLL_TRY(verifier.Base());
  return verifier.Take();
}

}  // namespace plimsoll::image
