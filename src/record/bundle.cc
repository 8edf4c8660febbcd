#include "record/bundle.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "crypto/sha256.h"
#include "sys/file.h"

namespace plimsoll::record {
namespace {

constexpr std::uint64_t kMostLineBytes = std::uint64_t{512} << 20U;

class Lock {
 public:
  static Result<Lock> Take(int file, const std::string& path) {
    while (::flock(file, LOCK_EX) != 0) {
      if (errno != EINTR) return sys::ErrnoError("lock " + Quote(path));
    }
    return Lock(file);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  Lock(Lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock() {
    if (file_ >= 0) (void)::flock(file_, LOCK_UN);
  }

 private:
  explicit Lock(int file) : file_(file) {}
  int file_;
};

Result<std::string> ReadRange(int file, std::uint64_t from, std::uint64_t size,
                              const std::string& path) {
  std::string bytes(size, '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(from + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return sys::ErrnoError("read " + Quote(path));
    if (count == 0) {
      return Error{.kind = ErrorKind::kProtocol, .what = Quote(path) + " shrank while it was read"};
    }
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

}  // namespace

// The file behind its last whole line.
struct Bundle::End {
  std::uint64_t at = 0;          // where the next line begins
  std::uint64_t torn_bytes = 0;  // what lies there already
  std::string last;              // the last line, without its newline; empty: there is none
};

Result<Bundle> Bundle::Open(const std::string& path) {
  auto file = sys::Open(path, O_RDWR | O_CREAT | O_NOCTTY | O_NONBLOCK, 0600);
  if (!file) return std::move(file).error().In("the record");
  PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::Stat(file->Get(), path));
  if (S_ISREG(status.st_mode)) return Bundle(path, *std::move(file));
  return Error{.kind = ErrorKind::kRequest,
               .what = "the record " + Quote(path) + " is no regular file"};
}

// Reads backwards in pieces until two newlines are found, or the beginning.
Result<Bundle::End> Bundle::FindEnd() {
  constexpr std::uint64_t kPiece = 16384;  // of a short run, some 13 KB
  PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::Stat(file_.Get(), path_));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::string tail;
  for (std::uint64_t from = size; from > 0;) {
    const std::uint64_t step = std::min(from, std::max<std::uint64_t>(kPiece, tail.size()));
    from -= step;
    PLIMSOLL_TRY_ASSIGN(std::string piece, ReadRange(file_.Get(), from, step, path_));
    tail.insert(0, piece);
    const std::size_t newline = tail.rfind('\n');
    const bool has_line = newline != std::string::npos;
    const std::size_t before =
        has_line && newline > 0 ? tail.rfind('\n', newline - 1) : std::string::npos;
    if (before == std::string::npos && from > 0) {
      if (tail.size() <= kMostLineBytes) continue;
      return Error{.kind = ErrorKind::kProtocol, .what = Quote(path_) + " is no bundle"};
    }
    if (!has_line) return End{.at = 0, .torn_bytes = size, .last = {}};
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    return End{.at = from + newline + 1,
               .torn_bytes = tail.size() - newline - 1,
               .last = tail.substr(begin, newline - begin)};
  }
  return End{};
}

// All of it, or none: what was written of a line that does not fit is taken back.
Result<void> Bundle::Write(std::string_view line, std::uint64_t at) {
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = ::pwrite(file_.Get(), line.data() + done, line.size() - done,
                                   static_cast<off_t>(at + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      Error error = sys::ErrnoError("write " + Quote(path_), count < 0 ? errno : ENOSPC);
      (void)::ftruncate(file_.Get(), static_cast<off_t>(at));  // else the next run cuts it off
      return error;
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

Result<Appended> Bundle::Append(const Draft& draft, const crypto::SigningKey& key, bool sync) {
  PLIMSOLL_TRY_ASSIGN(const Lock lock, Lock::Take(file_.Get(), path_));
  PLIMSOLL_TRY_ASSIGN(const End end, FindEnd());
  Appended appended{.index = 1, .torn_bytes = end.torn_bytes};
  std::string previous;
  if (end.at > 0) {
    auto place = PlaceOf(end.last);
    if (!place) return std::move(place).error().In("last line of " + Quote(path_));
    appended.index = place->index + 1;
    previous = crypto::Sha256HexOf(end.last);
  }
  if (end.torn_bytes > 0) {
    // Only of a bundle: somebody may have named a file of another kind.
    PLIMSOLL_TRY_ASSIGN(
        const std::string torn,
        ReadRange(file_.Get(), end.at, std::min<std::uint64_t>(end.torn_bytes, 11), path_));
    if (!std::string_view("{\"request\":").starts_with(torn)) {
      return Error{.kind = ErrorKind::kProtocol, .what = Quote(path_) + " is no bundle"};
    }
    if (::ftruncate(file_.Get(), static_cast<off_t>(end.at)) != 0) {
      return sys::ErrnoError("truncate " + Quote(path_));
    }
  }
  const std::string line = MakeLine(draft, appended.index, std::move(previous), key);
  PLIMSOLL_TRY(Write(line, end.at));
  if (sync && ::fdatasync(file_.Get()) != 0) return sys::ErrnoError("fdatasync " + Quote(path_));
  appended.line_sha256 = crypto::Sha256HexOf(std::string_view(line).substr(0, line.size() - 1));
  appended.record_sha256 = RecordDigest(draft.statement.record);
  return appended;
}

}  // namespace plimsoll::record
