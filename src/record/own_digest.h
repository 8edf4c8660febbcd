// The SHA-256 of this program's own file, which a record names.
#pragma once

#include <string>

#include "base/error.h"

namespace plimsoll::record {

// Lower-case hexadecimal. Hashing takes some milliseconds, so the answer is kept in the directory
// `cache` beside what tells the file from any other (device, inode, size and the time of its last
// change, which nobody can set) and is used again for the same file. A cache that cannot be read or
// written only costs the time. Errors: kHost when the program's file cannot be read.
Result<std::string> OwnDigest(const std::string& cache);

}  // namespace plimsoll::record
