// Owner of a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace plimsoll::sys {

// Closes its descriptor; move-only. -1 means none, 0 is a valid descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int Get() const { return fd_; }
  bool IsOpen() const { return fd_ >= 0; }
  // Hands the descriptor over; the caller closes it.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }

  void Reset(int fd = -1) {
    // close(2) is not retried on EINTR: on Linux the descriptor is gone either way, and a retry
    // could close one that another thread has just been given.
    if (fd_ >= 0) (void)::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace plimsoll::sys
