// Layers become one tree, by hard links.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "image/layer_facts.h"
#include "sys/unique_fd.h"

namespace plimsoll::image {

// An unpacked layer, ready to be linked from.
struct MergeLayer {
  sys::UniqueFd root;  // its rootfs
  LayerFacts facts;
  std::string name;  // for messages
};

// Merges `layers`, lowest first, into `work`/rootfs, which it makes; `work` must be on the layers'
// file system and otherwise empty (`work`/links is used in between). Whiteouts and opaque
// directories act on the layers below alone; hard links into a layer below are made; the skeleton
// of mount points is added (skeleton.h); directories get the mode and time of the highest layer
// that has an entry for them. No layer is changed.
//
// A directory that a layer merely implies is looked up in what is there already, beneath its root:
// where a layer below has `lib -> usr/lib` and this one has only `lib/x`, x goes to usr/lib.
//
// Errors: kEnvironment for a hard link to nothing; kHost otherwise.
Result<void> MergeLayers(const std::vector<MergeLayer>& layers, int work);

}  // namespace plimsoll::image
