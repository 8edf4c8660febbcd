#include "record/line_reader.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::record {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{16} << 20U;
constexpr std::size_t kMostLineBytes = std::size_t{512} << 20U;

}  // namespace

Result<LineReader> LineReader::Open(const std::string& path) {
  PLIMSOLL_TRY_ASSIGN(sys::UniqueFd file, sys::Open(path, O_RDONLY | O_NOCTTY));
  while (::flock(file.Get(), LOCK_SH) != 0) {
    if (errno != EINTR) return sys::ErrnoError("lock " + Quote(path));
  }
  const auto status = sys::Stat(file.Get(), path);
  (void)::flock(file.Get(), LOCK_UN);
  if (!status) return status.error();
  return LineReader(std::move(file), static_cast<std::uint64_t>(status->st_size), path);
}

Result<std::vector<std::string>> LineReader::Next() {
  std::vector<std::string> lines;
  while (lines.empty() && (left_ > 0 || !rest_.empty())) {
    if (left_ == 0) {
      return Error{.kind = ErrorKind::kProtocol,
                   .what = "the last line is cut short: " + std::to_string(rest_.size()) +
                           " bytes without a newline"};
    }
    if (rest_.size() > kMostLineBytes) {
      return Error{.kind = ErrorKind::kProtocol, .what = "a line is too long to be one"};
    }
    PLIMSOLL_TRY(Fill());
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      lines.push_back(rest_.substr(begin, end - begin));
    }
    rest_.erase(0, begin);
  }
  return lines;
}

Result<void> LineReader::Fill() {
  const std::size_t wanted = std::min<std::uint64_t>(left_, kBatchBytes);
  const std::size_t before = rest_.size();
  rest_.resize(before + wanted);
  for (std::size_t done = 0; done < wanted;) {
    const ssize_t count = ::read(file_.Get(), rest_.data() + before + done, wanted - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return sys::ErrnoError("read " + Quote(path_));
    if (count == 0) {
      return Error{.kind = ErrorKind::kProtocol,
                   .what = Quote(path_) + " shrank while it was read"};
    }
    done += static_cast<std::size_t>(count);
  }
  left_ -= wanted;
  return {};
}

Result<NumberedLine> FindLine(const std::string& path, std::optional<std::uint64_t> number) {
  PLIMSOLL_TRY_ASSIGN(LineReader reader, LineReader::Open(path));
  NumberedLine found;
  for (;;) {
    PLIMSOLL_TRY_ASSIGN(std::vector<std::string> lines, reader.Next());
    if (lines.empty()) break;
    for (std::string& line : lines) {
      found = {.number = found.number + 1, .text = std::move(line)};
      if (number && found.number == *number) return found;
    }
  }
  if (!number && found.number > 0) return found;
  return Error{.kind = ErrorKind::kRequest,
               .what = number ? Quote(path) + " has " + std::to_string(found.number) +
                                    " lines, not line " + std::to_string(*number)
                              : Quote(path) + " has no line yet"};
}

}  // namespace plimsoll::record
