// A second name for a file, or a copy where the file system refuses one.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace plimsoll::image {

// Always set on what is unpacked: the guest runs as the owner of everything, and the image was made
// for a root who may read and enter everything.
inline constexpr std::uint32_t kFileModeAlways = 0400;
inline constexpr std::uint32_t kDirectoryModeAlways = 0500;

// A file in an open directory.
struct NameAt {
  int dir;
  const std::string& name;
};

// linkat(2), never following a link at the end of `from`. On EMLINK and EXDEV a regular file is
// copied with its mode and time, a symbolic link or fifo made anew. EEXIST is left to the caller.
Result<void> LinkOrCopy(NameAt from, NameAt to);

}  // namespace plimsoll::image
