#include "run/streams.h"

#include <fcntl.h>

#include "sys/file.h"

namespace plimsoll::run {

launch::GuestStreams Streams::ForGuest() const {
  launch::GuestStreams fds = {
      .in = guest_in.Get(), .output = {}, .artifacts = guest_artifacts.Get()};
  for (const sys::UniqueFd& stream : guest_output)
    fds.output.push_back(stream.Get());
  return fds;
}

void Streams::CloseGuest() {
  guest_in.Reset();
  guest_output.clear();
  guest_artifacts.Reset();
}

// Always pipes or a /dev/null of our own: an inherited descriptor would let the guest open the
// host's file anew through /proc/self/fd.
Result<Streams> MakeStreams(std::size_t commands, bool interactive, bool has_artifacts) {
  Streams streams;
  if (interactive) {
    PLIMSOLL_TRY_ASSIGN(sys::Pipe in, sys::MakePipe());
    streams.guest_in = std::move(in.read);
    streams.in = std::move(in.write);
  } else {
    PLIMSOLL_TRY_ASSIGN(streams.guest_in, sys::Open("/dev/null", O_RDONLY));
  }
  for (std::size_t i = 0; i < 2 * commands; ++i) {
    PLIMSOLL_TRY_ASSIGN(sys::Pipe output, sys::MakePipe());
    streams.guest_output.push_back(std::move(output.write));
    streams.output.push_back(std::move(output.read));
  }
  if (has_artifacts) {
    PLIMSOLL_TRY_ASSIGN(sys::Pipe artifacts, sys::MakePipe());
    streams.guest_artifacts = std::move(artifacts.write);
    streams.artifacts = std::move(artifacts.read);
  }
  return streams;
}

}  // namespace plimsoll::run
