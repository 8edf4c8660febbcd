#include "image/freed_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::uint64_t kBlock = 512;  // of st_blocks, on every file system

class Counter {
 public:
  Result<void> Add(int dir, const std::string& path) {
    PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::StatAt(dir, path));
    const std::uint64_t bytes = static_cast<std::uint64_t>(status.st_blocks) * kBlock;
    if (S_ISDIR(status.st_mode)) {
      bytes_ += bytes;
      return AddEntries(dir, path);
    }
    const bool last_name =
        status.st_nlink < 2 || ++names_[{status.st_dev, status.st_ino}] == status.st_nlink;
    if (last_name) bytes_ += bytes;
    return {};
  }

  std::uint64_t Bytes() const { return bytes_; }

 private:
  Result<void> AddEntries(int dir, const std::string& path) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    if (::faccessat(dir, path.c_str(), R_OK | X_OK, AT_EACCESS) != 0 &&
        ::fchmodat(dir, path.c_str(), 0700, 0) != 0) {
      return sys::ErrnoError("chmod " + Quote(path));
    }
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd, sys::OpenAt(dir, path, kFlags));
    PLIMSOLL_TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries,
                        sys::ListEntries(fd.Get(), path));
    for (const sys::DirectoryEntry& entry : entries)
      PLIMSOLL_TRY(Add(fd.Get(), entry.name));
    return {};
  }

  std::map<std::pair<dev_t, ino_t>, nlink_t> names_;  // met so far, of files with several
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<std::uint64_t> FreedBytes(int dir, const std::string& path) {
  Counter counter;
  PLIMSOLL_TRY(counter.Add(dir, path));
  return counter.Bytes();
}

}  // namespace plimsoll::image
