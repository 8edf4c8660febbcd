#include "sys/mount.h"

#include <fcntl.h>
#include <sys/mount.h>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::sys {

Result<UniqueFd> CloneMount(const std::string& path, bool recursive) {
  const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW |
                         AT_NO_AUTOMOUNT | (recursive ? unsigned{AT_RECURSIVE} : 0U);
  UniqueFd fd(::open_tree(AT_FDCWD, path.c_str(), flags));
  if (!fd.IsOpen()) return ErrnoError("open_tree " + Quote(path));
  return fd;
}

}  // namespace plimsoll::sys
