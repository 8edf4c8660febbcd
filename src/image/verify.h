// Is what the store holds still what was imported?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/import.h"
#include "image/store.h"
#include "oci/reference.h"

namespace plimsoll::image {

struct Verification {
  std::vector<std::string> images;    // that were verified, each manifest by one of its names
  std::vector<std::string> problems;  // "layer sha256:...: 'bin/sh' has other content"
  std::uint64_t blobs = 0;            // that were hashed
  std::uint64_t layers = 0;           // that were unpacked again and compared
  std::uint64_t trees = 0;            // that were merged again and compared
};

// Hashes every blob of the image again, unpacks every layer again beside the store's and compares
// the two file by file, and does the same with the merged tree. Without `reference` every image of
// the store, and the embedded one if it was ever used.
Result<Verification> VerifyImages(const Store& store,
                                  const std::optional<oci::ImageReference>& reference,
                                  const ImportOptions& options = {});

}  // namespace plimsoll::image
