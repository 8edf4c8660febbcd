// Images leave the store, and with the last name of a blob, a layer or a tree that goes as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/store.h"
#include "oci/reference.h"

namespace plimsoll::image {

struct Removed {
  std::vector<std::string> names;  // the records that were taken away
  std::uint64_t freed = 0;         // bytes of blobs
};

// Removes NAME:TAG together with the pins of NAME that no other tag of it stands behind; or, for a
// digest, every record of NAME with that manifest or index. Then what no record needs is removed.
//
// Errors: kEnvironment when the name is unknown, and when a run uses the image's tree and nobody
// else would keep it; then nothing is removed.
Result<Removed> RemoveImage(const Store& store, const oci::ImageReference& reference);

}  // namespace plimsoll::image
