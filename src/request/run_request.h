// What the user asked for, checked: the input of every later stage.
//
// Values only; made complete by cli/ (flags, environment, configuration file) and by
// request/validate.h (rules across fields). Nothing here opens a file.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plimsoll::request {

// A bind mount of a host file or directory.
struct Volume {
  std::string source;       // absolute
  std::string destination;  // absolute, in the guest
  bool writable = false;
};

// Limits of the run; an absent one is not asked for.
struct Limits {
  std::optional<std::chrono::milliseconds> timeout;   // wall time
  std::chrono::milliseconds kill_after{2000};         // from TERM to KILL
  std::optional<std::chrono::milliseconds> cpu_time;  // of all processes together
  std::optional<std::uint64_t> memory_bytes;          // absent: the default of plan/limits.cc
  std::optional<std::uint64_t> pids;                  // absent: the default of plan/limits.cc
  std::optional<double> cpus;
  std::uint64_t tmpfs_bytes = std::uint64_t{64} << 20U;  // /work, /tmp, /dev/shm, /run together
  bool require = false;  // a limit that cannot be enforced refuses the run
};

// Whom the guest is, inside. Names are looked up in the image's passwd and group.
struct User {
  std::string user;   // a number or a name; empty: the image's, else 1000
  std::string group;  // a number or a name; empty: the user's
};

// Whom the guest is on the host when the runner is root.
struct HostUser {
  std::uint32_t uid = 65534;
  std::uint32_t gid = 65534;
};

enum class Tier { kProcess, kContainer, kKernel, kVm };  // weakest first

struct RunRequest {
  std::string image;                 // as given; empty: the embedded image
  std::vector<std::string> command;  // empty: the image's Entrypoint and Cmd
  std::vector<Volume> volumes;
  std::vector<std::pair<std::string, std::string>> environment;  // in order, later wins
  std::string workdir;                                           // empty: the image's, else /work
  User user;
  std::optional<HostUser> host_user;  // --host-user; only for root
  Limits limits;
  std::uint64_t output_limit = std::uint64_t{1}
                               << 20U;  // bytes of each stream kept in the response
  std::optional<Tier> floor;
  std::string trace_id;
  bool interactive = false;  // -i: the caller's stdin reaches the guest
  bool writable_root = false;
  bool volume_all = false;      // .git and its kind in a writable volume are writable too
  bool volume_sockets = false;  // a socket or device may be a volume
  std::string seccomp;          // path of a profile; empty: the shipped default
  bool seccomp_log = false;     // refused calls are counted
  bool json = false;
};

}  // namespace plimsoll::request
