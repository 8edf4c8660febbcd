#include "image/link_or_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 30U;

Result<void> CopyFile(NameAt from, NameAt to, const struct stat& status) {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd in,
                      sys::OpenAt(from.dir, from.name, O_RDONLY | O_NOFOLLOW));
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd out,
                      sys::OpenAt(to.dir, to.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  for (;;) {
    const ssize_t count = ::copy_file_range(in.Get(), nullptr, out.Get(), nullptr, kCopyBytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return sys::ErrnoError("copy " + Quote(from.name) + " to " + Quote(to.name));
    if (count == 0) break;
  }
  const std::array<timespec, 2> times = {status.st_atim, status.st_mtim};
  if (::fchmod(out.Get(), status.st_mode & 0777U) != 0 ||
      ::futimens(out.Get(), times.data()) != 0) {
    return sys::ErrnoError("set the mode and time of " + Quote(to.name));
  }
  return {};
}

Result<void> CopyLink(NameAt from, NameAt to) {
  std::array<char, PATH_MAX> target = {};
  const ssize_t size = ::readlinkat(from.dir, from.name.c_str(), target.data(), target.size() - 1);
  if (size < 0) return sys::ErrnoError("readlink " + Quote(from.name));
  if (::symlinkat(target.data(), to.dir, to.name.c_str()) != 0) {
    return sys::ErrnoError("symlink " + Quote(to.name));
  }
  return {};
}

}  // namespace

Result<void> LinkOrCopy(NameAt from, NameAt to) {
  if (::linkat(from.dir, from.name.c_str(), to.dir, to.name.c_str(), 0) == 0) return {};
  if (errno != EMLINK && errno != EXDEV) {
    return sys::ErrnoError("link " + Quote(to.name) + " to " + Quote(from.name));
  }
  PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::StatAt(from.dir, from.name));
  if (S_ISREG(status.st_mode)) return CopyFile(from, to, status);
  if (S_ISLNK(status.st_mode)) return CopyLink(from, to);
  if (::mknodat(to.dir, to.name.c_str(), S_IFIFO | (status.st_mode & 0777U), 0) != 0) {
    return sys::ErrnoError("mkfifo " + Quote(to.name));
  }
  return {};
}

}  // namespace plimsoll::image
