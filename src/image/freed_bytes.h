// What removing something gives back to the file system.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace plimsoll::image {

// The bytes that are free again once the entry `path` of the directory `dir` and everything beneath
// it are removed: what files and directories occupy on disk, whatever their length. A file with a
// name elsewhere stays and counts nothing. Directories that deny their owner are opened up, so that
// they can be looked into; call it for what is about to go.
Result<std::uint64_t> FreedBytes(int dir, const std::string& path);

}  // namespace plimsoll::image
