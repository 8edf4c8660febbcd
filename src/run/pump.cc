#include "run/pump.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace plimsoll::run {
namespace {

// Larger blocks fall out of the second-level cache and are slower.
constexpr std::size_t kBlockBytes = std::size_t{64} << 10U;

// Blocks until `fd` can take bytes, for a caller's descriptor that is in non-blocking mode.
void WaitWritable(int fd) {
  struct pollfd writable = {.fd = fd, .events = POLLOUT, .revents = 0};
  (void)::poll(&writable, 1, -1);
}

bool WriteAll(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(fd, bytes, size);
    if (count > 0) {
      bytes += count;
      size -= static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EAGAIN) {
      WaitWritable(fd);
    } else if (count < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

// An `fd` in non-blocking mode also ends (0) once `end_fd`, unless it is -1, is readable and
// nothing is left.
ssize_t ReadSome(int fd, int end_fd, char* buffer, std::size_t size) {
  for (bool ended = false;;) {
    const ssize_t count = ::read(fd, buffer, size);
    if (count >= 0 || (errno != EINTR && errno != EAGAIN)) return count;
    if (errno == EINTR) continue;
    if (ended) return 0;
    std::array<struct pollfd, 2> events = {{{fd, POLLIN, 0}, {end_fd, POLLIN, 0}}};
    (void)::poll(events.data(), events.size(), -1);
    ended = events[1].revents != 0;
  }
}

}  // namespace

OutputPump::OutputPump(sys::UniqueFd source, int forward_fd, std::uint64_t keep, int end_fd)
    : source_(std::move(source)), end_fd_(end_fd), forward_fd_(forward_fd), keep_(keep) {
  // Fails for no pipe of ours; without it the stream would only end with its last writer.
  (void)::fcntl(source_.Get(), F_SETFL, O_NONBLOCK);
}

void OutputPump::Notice(short events) {
  if (events == 0) return;
  try {
    if ((events & POLLIN) != 0) thread_ = std::thread([this] { Run(); });
    noticed_ = true;
  } catch (const std::system_error&) {
    noticed_ = !CopyBlock();
  }
}

result::Stream OutputPump::Finish() {
  if (thread_.joinable()) {
    thread_.join();
  } else {
    Run();
  }
  stream_.sha256 = hash_.FinishHex();
  stream_.truncated = stream_.bytes > stream_.kept.size();
  return std::move(stream_);
}

void OutputPump::Run() {
  while (CopyBlock())
    continue;
}

// False at the end of the stream.
bool OutputPump::CopyBlock() {
  std::array<char, kBlockBytes> buffer;
  const ssize_t count = ReadSome(source_.Get(), end_fd_, buffer.data(), buffer.size());
  const auto size = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  Take(buffer.data(), size);
  // A reader that has left is the guest's business: closing our end gives it the SIGPIPE that it
  // would have had without us.
  if (count > 0 && (forward_fd_ < 0 || WriteAll(forward_fd_, buffer.data(), size))) return true;
  if (count > 0 && errno != EPIPE) stream_.lost_errno = errno;
  source_.Reset();
  return false;
}

void OutputPump::Take(const char* bytes, std::size_t size) {
  hash_.Update(bytes, size);
  stream_.bytes += size;
  const std::uint64_t room = keep_ - std::min<std::uint64_t>(keep_, stream_.kept.size());
  stream_.kept.append(bytes, static_cast<std::size_t>(std::min<std::uint64_t>(room, size)));
}

InputPump::InputPump(int source_fd, sys::UniqueFd sink) {
  std::thread([source_fd, owned = std::move(sink)]() mutable {
    std::array<char, kBlockBytes> buffer;
    for (;;) {
      const ssize_t count = ReadSome(source_fd, -1, buffer.data(), buffer.size());
      if (count <= 0 || !WriteAll(owned.Get(), buffer.data(), static_cast<std::size_t>(count))) {
        return;
      }
    }
  }).detach();
}

}  // namespace plimsoll::run
