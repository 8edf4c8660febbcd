#include "image/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 30U;

class Folder : public Source {
 public:
  Folder(std::string path, sys::UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  Result<sys::UniqueFd> Open(const std::string& path) override {
    auto file = sys::OpenBeneath(fd_.Get(), path, O_RDONLY | O_NONBLOCK,
                                 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    if (!file) {
      Error error = std::move(file).error();
      error.kind = ErrorKind::kEnvironment;
      return std::move(error).In("image layout " + Quote(path_));
    }
    PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::Stat(file->Get(), path));
    if (!S_ISREG(status.st_mode)) {
      return Error{.kind = ErrorKind::kEnvironment,
                   .what = Quote(path_ + "/" + path) + " is no regular file"};
    }
    return file;
  }

  bool Has(const std::string& path) override { return Open(path).has_value(); }

  Result<void> Take(const std::string& path, int dir, const std::string& to) override {
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd in, Open(path));
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd out,
                        sys::OpenAt(dir, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    for (;;) {
      const ssize_t count = ::copy_file_range(in.Get(), nullptr, out.Get(), nullptr, kCopyBytes, 0);
      if (count == 0) return {};
      if (count > 0 || errno == EINTR) continue;
      if (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP) break;
      return sys::ErrnoError("copy " + Quote(path));
    }
    return CopyByHand(in.Get(), out.Get(), path);
  }

 private:
  // For file systems between which the kernel does not copy. Both offsets stand where it stopped.
  static Result<void> CopyByHand(int in, int out, const std::string& path) {
    std::string block(std::size_t{256} << 10U, '\0');
    for (;;) {
      const ssize_t count = ::read(in, block.data(), block.size());
      if (count == 0) return {};
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return sys::ErrnoError("read " + Quote(path));
      PLIMSOLL_TRY(sys::WriteAll(
          out, std::string_view(block).substr(0, static_cast<std::size_t>(count)), path));
    }
  }

  std::string path_;
  sys::UniqueFd fd_;
};

}  // namespace

Result<std::string> Source::Read(const std::string& path, const Limits& limits) {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd, Open(path));
  return sys::ReadAll(fd.Get(), limits.document_bytes, path);
}

Result<std::unique_ptr<Source>> OpenFolder(const std::string& path) {
  auto fd = sys::Open(path, O_RDONLY | O_DIRECTORY);
  if (!fd) {
    Error error = std::move(fd).error();
    error.kind = ErrorKind::kEnvironment;
    return error;
  }
  return std::unique_ptr<Source>(std::make_unique<Folder>(path, *std::move(fd)));
}

}  // namespace plimsoll::image
