// What docker save and podman save wrote before they wrote OCI layouts.
#pragma once

#include <vector>

#include "base/error.h"
#include "image/resolve.h"

namespace plimsoll::image {

// The images of manifest.json. Such an archive has no image manifest, so each image gets one, made
// of the digests of the files; the same archive always gets the same one.
Result<std::vector<FoundImage>> FindInDockerSave(Source& source, const Selection& selection,
                                                 const Limits& limits);

}  // namespace plimsoll::image
