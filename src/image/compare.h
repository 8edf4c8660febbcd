// Two directory trees, compared entry by entry.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace plimsoll::image {

// What differs between the tree `expected` and the tree `found`, as sentences with the path, such
// as "'usr/bin/env' has other content"; at most `limit` of them. Types, permissions, sizes, content
// and link targets count; owners and times do not. Names of one and the same file are equal without
// a look inside.
Result<std::vector<std::string>> CompareTrees(int expected, int found, std::size_t limit);

}  // namespace plimsoll::image
