// Images leave the store, and with the last name of a blob, a layer or a tree that goes as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/store.h"
#include "oci/reference.h"

namespace plimsoll::image {

// Bytes that the file system has back. Trees share their files with the layers, which they are
// counted with.
struct Freed {
  std::uint64_t blobs = 0;
  std::uint64_t layers = 0;
  std::uint64_t trees = 0;

  std::uint64_t Total() const { return blobs + layers + trees; }
  Freed& operator+=(const Freed& other);
};

struct Removed {
  std::vector<std::string> names;  // the records that were taken away
  Freed freed;
};

// Removes NAME:TAG together with the pins of NAME that no other tag of it stands behind; or, for
// NAME@DIGEST, every record of NAME with that manifest or index; or, for a digest alone, every such
// record whatever its name. With the last name of an image what a run by path has kept goes as
// well. Then what no record needs is removed.
//
// Errors: kEnvironment when the name is unknown, and when a run uses the image's tree and nobody
// else would keep it; then nothing is removed.
Result<Removed> RemoveImage(const Store& store, const oci::ImageReference& reference);

}  // namespace plimsoll::image
