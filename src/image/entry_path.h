// Names of tar entries, brought into one form.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "image/limits.h"

namespace plimsoll::image {

// `raw` without leading and double slashes and "." components; empty for the root itself. The
// result is a key (of whiteouts, of directory modes, of links), which is why ".." is refused here:
// what keeps an entry inside its root is the kernel's resolution, not this function.
//
// Errors: kProtocol for "..", NUL and components above 255 bytes; kCapacity above the limits.
Result<std::string> CleanEntryPath(std::string_view raw, const Limits& limits);

// "a/b" of "a/b/c", empty of "c".
std::string_view ParentOf(std::string_view path);
// "c" of "a/b/c".
std::string_view NameOf(std::string_view path);

}  // namespace plimsoll::image
