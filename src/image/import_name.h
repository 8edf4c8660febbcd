// The names that imported images get.
#pragma once

#include <vector>

#include "base/error.h"
#include "image/import.h"

namespace plimsoll::image {

// What to file the image under: the request's own name; else each name in the source, where a bare
// tag is completed by the name of the folder or file; else that name alone with "latest". With
// `unnamed`, the digest of the manifest. Errors: kRequest.
Result<std::vector<oci::ImageReference>> NamesFor(const ImportRequest& request,
                                                  const FoundImage& image);

// Refuses several images where the request means one, and names them.
Result<void> CheckCount(const ImportRequest& request, const std::vector<FoundImage>& images);

}  // namespace plimsoll::image
