// From what the user wrote to the store's record of that image.
#pragma once

#include <string>

#include "base/error.h"
#include "image/import.h"
#include "image/record.h"
#include "oci/reference.h"

namespace plimsoll::image {

// The record of an image of the store, by name or by path. A path's image is imported when the
// store does not have it: a layout is recognised by the digests in its index.json, an archive by
// its file's identity and times. `store_path` is absolute.
//
// Errors: kEnvironment for an unknown name, with the nearest one and how to import it, and for a
// digest of another platform, with the platforms there are; those of ImportImages.
Result<ImageRecord> FindImage(const std::string& store_path, const oci::ImageReference& reference,
                              const ImportOptions& options);

}  // namespace plimsoll::image
