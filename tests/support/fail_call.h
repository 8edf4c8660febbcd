// Runs plimsoll with every system call of it and of its sandbox under watch, and makes one of them
// fail, or kills the runner at it.
//
// A seccomp filter around the program notifies this process of each call (seccomp_unotify(2)). A
// filter alone would not do: it cannot tell two calls with the same arguments apart.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "support/process.h"

namespace plimsoll::testing_support {

// Whose calls count.
enum class Caller {
  kRunner,   // the first process, from the beginning of its main function on; close(2) never fails
  kWorker,   // the process that a runner of root's leaves the work to
  kSetUp,    // the sandbox before the guest's program: the cloned child, init, the guest's process
  kInit,     // init from the start of the guest's program on
  kBetween,  // init and the second guest's process, from the start of the first guest's program to
             // that of the second's
};

enum class FaultKind {
  kFail,        // the call fails and is not carried out
  kKillRunner,  // SIGKILL to the first process; when it is dead, and so is what has asked to die
                // with it, the call goes on, unless its caller is among them
  kKillWorker,  // the same to the worker
};

struct Fault {
  Caller caller = Caller::kSetUp;
  int call = 0;  // the first is 1; 0: none, so that nothing happens
  FaultKind kind = FaultKind::kFail;
  int error = 0;  // errno of the failing call
};

struct Call {
  long number = -1;
  std::array<std::uint64_t, 6> arguments = {};
  bool before_clone = false;  // nothing of the sandbox was there yet
};

struct Watched {
  Outcome outcome;
  std::optional<Call> hit;     // the fault's call; nothing when so many were not made
  bool guest_started = false;  // the guest's program made a call
};

// Runs the command to its end, and until no process is left that came from it; fails the test and
// kills them when that takes longer than kPatience.
Watched RunWatched(Command command, const Fault& fault);

}  // namespace plimsoll::testing_support
