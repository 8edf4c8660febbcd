// What this host is and can do, as values: probed once, then handed to the planner.
#pragma once

#include <cstdint>
#include <string>

namespace plimsoll::sys {

struct HostFacts {
  std::uint32_t uid = 0;  // effective ids of the process that will clone
  std::uint32_t gid = 0;
  std::string kernel_release;  // uname(2), such as "6.1.0-18-amd64"
  std::uint32_t kernel_major = 0;
  std::uint32_t kernel_minor = 0;
  int landlock_abi = 0;                // 0: the kernel has no Landlock, or it is off
  std::uint32_t last_capability = 0;   // highest number that the kernel knows
  std::uint64_t memory_bytes = 0;      // of the machine
  std::uint64_t descriptor_limit = 0;  // hard RLIMIT_NOFILE
  // Other hard limits that this process has inherited; what is above them cannot be set.
  std::uint64_t task_limit = UINT64_MAX;    // RLIMIT_NPROC
  std::uint64_t core_limit = UINT64_MAX;    // RLIMIT_CORE
  std::uint64_t cpu_limit = UINT64_MAX;     // RLIMIT_CPU, in seconds
  std::uint64_t signal_limit = UINT64_MAX;  // RLIMIT_SIGPENDING
  std::string cgroup;  // absolute path of our own cgroup v2 group when it is delegated
                       // to us with its memory and pids controllers; else empty

  bool KernelAtLeast(std::uint32_t major, std::uint32_t minor) const {
    return kernel_major != major ? kernel_major > major : kernel_minor >= minor;
  }
};

// True when this process is root and can become other users: not so for the root of a user
// namespace that maps a few ids only (unshare -r, a rootless container), who is an ordinary user of
// the host.
bool IsRootOfHost();

// Probes this host for the calling process. Cheap enough for every run (about 15 µs) and without
// side effects. Nothing in it fails: what cannot be found out counts as absent.
HostFacts ProbeHost();

}  // namespace plimsoll::sys
