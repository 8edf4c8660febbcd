// Adds up what a sandbox's processes use, for the limits that no kernel mechanism enforces here.
//
// Everything is read from the guest's own /proc, seen from outside: the runner owns the guest's
// user namespace, so a process that hides from its like cannot hide from it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "sys/unique_fd.h"

namespace plimsoll::run {

struct Usage {
  std::chrono::milliseconds cpu{0};  // of living processes and of those they have waited for
  std::uint64_t memory_bytes = 0;    // resident, and what the run's tmpfs holds
  std::uint64_t tasks = 0;           // processes and threads, init too
};

class Watchdog {
 public:
  // Watches the sandbox whose init has the host's process id `init_pid`, which must not have been
  // reaped while this object is in use. `scratch` is where the guest sees the run's tmpfs; empty:
  // nowhere, and then what it holds is not added up.
  Watchdog(pid_t init_pid, std::string scratch);

  // What the sandbox uses at this moment; nothing while its /proc is not mounted yet.
  // `exact_memory` counts shared pages once (proportional set size), which is dearer.
  std::optional<Usage> Measure(bool exact_memory);

 private:
  bool OpenProc();

  pid_t init_pid_;
  std::string scratch_path_;
  sys::UniqueFd proc_;
  sys::UniqueFd scratch_;
};

}  // namespace plimsoll::run
