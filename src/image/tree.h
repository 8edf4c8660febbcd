// Merged trees of the store: opened for a run, or made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/merge.h"
#include "image/store.h"
#include "oci/digest.h"
#include "sys/unique_fd.h"

namespace plimsoll::image {

struct OpenTree {
  sys::UniqueFd root;  // O_PATH
  sys::UniqueFd lock;  // shared
};

// The tree, when it is there, with its lock held; a handful of system calls and no store object,
// since every run comes through here. `store_path` is absolute. Nothing when the store or the tree
// is missing.
//
// Errors: kUnsupported for a store of a newer format.
Result<std::optional<OpenTree>> OpenReadyTree(const std::string& store_path,
                                              const oci::Digest& chain_id);

// Makes sure that the tree is there, merging the layers when it is not: all of layers/DiffID must
// be there, and the caller holds the store's shared lock.
Result<void> EnsureTree(const Store& store, const oci::Digest& chain_id,
                        const std::vector<oci::Digest>& diff_ids);

// An unpacked layer of the store, for merging.
Result<MergeLayer> OpenLayer(const Store& store, const oci::Digest& diff_id);

// OCI image specification, config.md, "Layer ChainID".
oci::Digest ChainId(const std::vector<oci::Digest>& diff_ids);

}  // namespace plimsoll::image
