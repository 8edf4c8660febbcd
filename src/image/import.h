// Images come into the store: all of an image, checked, or nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/limits.h"
#include "image/progress.h"
#include "image/record.h"
#include "image/resolve.h"
#include "image/store.h"
#include "oci/reference.h"

namespace plimsoll::image {

struct ImportRequest {
  std::string source;                       // as the user gave it, for the record
  std::string path;                         // a folder with an OCI layout, or an archive
  Selection selection;                      // which of several images; all of them when empty
  std::optional<oci::ImageReference> name;  // NAME:TAG to file a single image under
  bool unnamed = false;  // file it under its digests alone, and refuse several images
};

struct ImportOptions {
  Limits limits;
  Progress progress;  // may be empty
};

struct Imported {
  std::vector<ImageRecord> records;  // under their tags
  std::vector<std::string> notes;    // what the user should know: entries that were left out
};

// Imports what `request` names: blobs are copied and checked against their digests, layers unpacked
// and checked against their DiffIDs, trees merged, and only then the names are written. Each image
// gets its tag and a pin for its manifest's digest and, if it came from one, its index's.
//
// Errors: those of FindImages, UnpackLayer and MergeLayers;
// kEnvironment for an image of another platform or with a wrong digest; kRequest when a name is
// needed and none can be made of the source.
Result<Imported> ImportImages(const Store& store, const ImportRequest& request,
                              const ImportOptions& options = {});

// Opens the source of a request: a folder, or an archive unpacked below `work`.
Result<std::unique_ptr<Source>> OpenSource(const std::string& path, const WorkDirectory& work,
                                           const ImportOptions& options);

}  // namespace plimsoll::image
