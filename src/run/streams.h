// The pipes between a sandbox and the runner.
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "launch/spawn.h"
#include "sys/unique_fd.h"

namespace plimsoll::run {

// The guest's ends of its streams, and ours.
struct Streams {
  sys::UniqueFd guest_in;
  std::vector<sys::UniqueFd> guest_output;  // standard output and error of the first command, ...
  sys::UniqueFd guest_artifacts;
  sys::UniqueFd in;
  std::vector<sys::UniqueFd> output;  // in the same order
  sys::UniqueFd artifacts;

  // The guest's ends, which this object keeps.
  launch::GuestStreams ForGuest() const;
  // Closes them: a stream then ends when the sandbox has closed it.
  void CloseGuest();
};

// All pipes of a run of so many commands. Its standard input is empty unless `interactive`. Errors:
// kHost.
Result<Streams> MakeStreams(std::size_t commands, bool interactive, bool has_artifacts);

}  // namespace plimsoll::run
