#include "image/compare.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::size_t kBlock = std::size_t{128} << 10U;
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

Result<std::string> ReadLink(int dir, const std::string& name) {
  std::array<char, PATH_MAX> target = {};
  const ssize_t size = ::readlinkat(dir, name.c_str(), target.data(), target.size());
  if (size < 0) return sys::ErrnoError("readlink " + Quote(name));
  return std::string(target.data(), static_cast<std::size_t>(size));
}

// Fills the block as far as the file goes.
Result<std::size_t> ReadBlock(int fd, std::string& block, const std::string& name) {
  std::size_t filled = 0;
  while (filled < block.size()) {
    const ssize_t count = ::read(fd, block.data() + filled, block.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return sys::ErrnoError("read " + Quote(name));
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

class Comparison {
 public:
  explicit Comparison(std::size_t limit) : limit_(limit) {}

  Result<void> Directories(int expected, int found, const std::string& path) {
    PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> wanted, sys::ListDirectory(expected, path));
    PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> there, sys::ListDirectory(found, path));
    for (const std::string& name : there) {
      if (!std::binary_search(wanted.begin(), wanted.end(), name)) {
        Differ(Join(path, name), "should not be there");
      }
    }
    for (const std::string& name : wanted) {
      if (differences_.size() >= limit_) return {};
      if (!std::binary_search(there.begin(), there.end(), name)) {
        Differ(Join(path, name), "is missing");
      } else {
        PLIMSOLL_TRY(Entries(expected, found, name, Join(path, name)));
      }
    }
    return {};
  }

  std::vector<std::string> TakeDifferences() {
    if (differences_.size() > limit_) differences_.resize(limit_);
    return std::move(differences_);
  }

 private:
  static std::string Join(const std::string& directory, const std::string& name) {
    return directory.empty() ? name : directory + "/" + name;
  }

  void Differ(const std::string& path, const std::string& how) {
    differences_.push_back(Quote(path) + " " + how);
  }

  Result<void> Entries(int expected, int found, const std::string& name, const std::string& path) {
    PLIMSOLL_TRY_ASSIGN(const struct stat want, sys::StatAt(expected, name));
    PLIMSOLL_TRY_ASSIGN(const struct stat have, sys::StatAt(found, name));
    if (want.st_ino == have.st_ino && want.st_dev == have.st_dev) return {};
    if ((want.st_mode & S_IFMT) != (have.st_mode & S_IFMT)) {
      Differ(path, "is of another type");
      return {};
    }
    if (want.st_mode != have.st_mode) Differ(path, "has other permissions");
    if (S_ISDIR(want.st_mode)) {
      PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd left, sys::OpenAt(expected, name, kOpenDirectory));
      PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd right, sys::OpenAt(found, name, kOpenDirectory));
      return Directories(left.Get(), right.Get(), path);
    }
    if (S_ISLNK(want.st_mode)) {
      PLIMSOLL_TRY_ASSIGN(const std::string left, ReadLink(expected, name));
      PLIMSOLL_TRY_ASSIGN(const std::string right, ReadLink(found, name));
      if (left != right) Differ(path, "points elsewhere");
      return {};
    }
    if (!S_ISREG(want.st_mode)) return {};
    if (want.st_size != have.st_size) {
      Differ(path, "has another size");
      return {};
    }
    return Contents(expected, found, name, path);
  }

  Result<void> Contents(int expected, int found, const std::string& name, const std::string& path) {
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd left,
                        sys::OpenAt(expected, name, O_RDONLY | O_NOFOLLOW));
    const auto right = sys::OpenAt(found, name, O_RDONLY | O_NOFOLLOW);
    if (!right) {
      Differ(path, "cannot be read");
      return {};
    }
    for (;;) {
      PLIMSOLL_TRY_ASSIGN(const std::size_t want, ReadBlock(left.Get(), left_, path));
      PLIMSOLL_TRY_ASSIGN(const std::size_t have, ReadBlock(right->Get(), right_, path));
      if (want != have ||
          !std::equal(left_.begin(), left_.begin() + static_cast<long>(want), right_.begin())) {
        Differ(path, "has other content");
        return {};
      }
      if (want < kBlock) return {};
    }
  }

  std::size_t limit_;
  std::vector<std::string> differences_;
  std::string left_ = std::string(kBlock, '\0');
  std::string right_ = std::string(kBlock, '\0');
};

}  // namespace

Result<std::vector<std::string>> CompareTrees(int expected, int found, std::size_t limit) {
  Comparison comparison(limit);
  PLIMSOLL_TRY(comparison.Directories(expected, found, ""));
  return comparison.TakeDifferences();
}

}  // namespace plimsoll::image
