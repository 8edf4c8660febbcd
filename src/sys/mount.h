// Detached mounts, for a runner that is root.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "sys/unique_fd.h"

namespace plimsoll::sys {

// open_tree(2) with OPEN_TREE_CLONE: a copy of the mount at `path` (and of those beneath it),
// attached nowhere, which another process can attach in its own mount namespace. `path` has no
// symbolic link. Needs CAP_SYS_ADMIN. Errors: kHost.
Result<UniqueFd> CloneMount(const std::string& path, bool recursive);

// Makes files of `mount`, a detached mount, that root owns appear as owned by `uid` and `gid`, and
// as owned by nobody else (mount_setattr(2), MOUNT_ATTR_IDMAP). Needs root, and a file system that
// can do it. Errors: kHost.
Result<void> ShowRootAs(const UniqueFd& mount, std::uint32_t uid, std::uint32_t gid);

}  // namespace plimsoll::sys
