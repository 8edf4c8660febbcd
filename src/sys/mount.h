// Detached mounts, for a runner that is root.
#pragma once

#include <string>

#include "base/error.h"
#include "sys/unique_fd.h"

namespace plimsoll::sys {

// open_tree(2) with OPEN_TREE_CLONE: a copy of the mount at `path` (and of those beneath it), attached
// nowhere, which another process can attach in its own mount namespace. `path` has no symbolic link.
// Needs CAP_SYS_ADMIN. Errors: kHost.
Result<UniqueFd> CloneMount(const std::string& path, bool recursive);

}  // namespace plimsoll::sys
