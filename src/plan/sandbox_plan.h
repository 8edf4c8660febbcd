// The plan of one run: the bytes that init carries out, and what the runner does beside it.
//
// Everything is decided here, before the clone. The digest names the very bytes that init gets.
#pragma once

#include <linux/filter.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sys/unique_fd.h"

namespace plimsoll::plan {

// A limit of the run and what enforces it: "cgroup", "rlimit", "tmpfs", "timer", "runner",
// "watchdog" (can be evaded by a hostile guest) or "not enforced".
struct Limit {
  std::string name;
  std::string value;  // with its unit
  std::string mechanism;
  bool asked = false;  // by the user, not a default
};

// What the runner itself watches while the guest runs; absent: nothing to watch.
struct Supervision {
  std::optional<std::chrono::milliseconds> timeout;
  std::chrono::milliseconds kill_after{2000};
  std::optional<std::chrono::milliseconds> cpu_time;
  std::optional<std::uint64_t> memory_bytes;  // watched; absent when a cgroup enforces it
  bool memory_asked = false;                  // by the user, not the default
  std::string scratch_path;      // of the guest, where its tmpfs is seen; empty: volumes cover it
  std::uint64_t most_tasks = 0;  // at which the pids limit stops new ones, init included
};

// Something at the top of a writable volume that the user's tools would run later, which could not
// be kept from the guest because it is not there, or is a link.
struct RunLater {
  std::string path;       // on the host
  timespec changed = {};  // the link's own change time, which no caller can set; 0: nothing there
};

// Values for a fresh cgroup of this run; empty texts are not written.
struct CgroupPlan {
  std::string parent;  // absolute path of the delegated group; empty: no group
  std::string memory_max;
  std::string pids_max;
  std::string cpu_max;
};

// A command of the guest, in the order in which they run.
struct Command {
  std::vector<std::string> arguments;
  std::string text;  // request::CommandText
};

struct SandboxPlan {
  std::string bytes;   // init/wire.h
  std::string digest;  // lower-case hex SHA-256 of `bytes`
  // Detached mounts for init, in the plan's order. Behind them init gets the output streams of the
  // second command and of those behind it, and last the pipe of the artifacts, if there are any.
  std::vector<sys::UniqueFd> passed;
  std::vector<Limit> limits;
  Supervision supervision;
  CgroupPlan cgroup;
  std::string program_folder;          // of the host, for init where memfds may not be executed
  std::vector<Command> commands;       // at least one
  std::vector<std::string> artifacts;  // paths below the project folder, in the plan's order
  // Of a learning run: where the listener of the guest's filter comes in, and the program whose
  // answers it is given. The socket's other end is the last of `passed`.
  sys::UniqueFd listener_route;
  std::vector<sock_filter> answers;
  std::vector<RunLater> run_later;    // to be looked at when the guest has ended
  std::vector<std::string> warnings;  // sentences for the user; each says what is weaker
};

}  // namespace plimsoll::plan
