// A layer blob becomes an unpacked layer of the store, once per DiffID.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/error.h"
#include "image/blob_stream.h"
#include "image/layer_facts.h"
#include "image/limits.h"
#include "image/store.h"
#include "oci/digest.h"

namespace plimsoll::image {

// What a layer must turn out to be; an absent digest is not checked.
struct ExpectedLayer {
  std::optional<oci::Digest> blob;
  std::optional<oci::Digest> diff_id;
};

struct UnpackedLayer {
  BlobFacts blob;
  LayerFacts facts;
};

// Unpacks `source` into `directory` (empty): rootfs/, layer.json and owners.json. Both digests are
// checked; on an error what was written is left to the caller to remove.
Result<UnpackedLayer> UnpackLayer(const BlobSource& source, const ExpectedLayer& expected,
                                  const Limits& limits, int directory,
                                  const std::function<void(std::uint64_t)>& on_read = {});

// Makes sure that layers/DiffID is there, unpacking `source` when it is not; nothing when it was,
// so that `source` was not looked at. The caller holds the store's shared lock.
Result<std::optional<UnpackedLayer>> EnsureLayer(
    const Store& store, const oci::Digest& diff_id, const BlobSource& source,
    const oci::Digest& blob, const Limits& limits,
    const std::function<void(std::uint64_t)>& on_read = {});

// Reads the blob for its digests alone.
Result<void> CheckLayerBlob(const BlobSource& source, const ExpectedLayer& expected,
                            const Limits& limits);

// True when layers/DiffID is there.
bool HasLayer(const Store& store, const oci::Digest& diff_id);

}  // namespace plimsoll::image
