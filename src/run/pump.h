// Copies one of the guest's streams to the caller, hashing it and keeping its beginning.
#pragma once

#include <cstdint>
#include <thread>

#include "crypto/sha256.h"
#include "result/run_result.h"
#include "sys/unique_fd.h"

namespace plimsoll::run {

// A stream of the guest and the thread that empties it. The thread starts with the first bytes, so
// that a silent stream costs none. What is hashed is what is forwarded: bytes are read into a
// buffer of our own first, since pages that a guest splices into a pipe may change later.
class OutputPump {
 public:
  // Takes the read end of the guest's pipe; `forward_fd` is where bytes go, or -1. `end_fd` is
  // readable once every process of the guest has ended: the stream then ends with what is in the
  // pipe, since a guest may have left its other end in the queue of a socket, where it stays open.
  // Neither is owned.
  OutputPump(sys::UniqueFd source, int forward_fd, std::uint64_t keep, int end_fd);

  // For poll(2): the source as long as nothing has been noticed; -1 afterwards.
  int PollFd() const { return noticed_ ? -1 : source_.Get(); }
  // What poll(2) said of it: bytes start the thread, or are copied here and now when the user may
  // have no more threads; an end without bytes is left to Finish().
  void Notice(short events);
  // Waits until the stream has ended and everything is forwarded; what came of it. Call once.
  result::Stream Finish();

 private:
  void Run();
  bool CopyBlock();
  void Take(const char* bytes, std::size_t size);

  sys::UniqueFd source_;
  int end_fd_;
  int forward_fd_;
  std::uint64_t keep_;
  crypto::Sha256 hash_;
  result::Stream stream_;
  std::thread thread_;
  bool noticed_ = false;
};

// Feeds the caller's standard input to the guest. The thread is left behind when the process ends,
// for a read from a terminal cannot be called off.
class InputPump {
 public:
  // Starts copying from `source_fd` (not owned) to the guest's pipe until either side ends.
  InputPump(int source_fd, sys::UniqueFd sink);
};

}  // namespace plimsoll::run
