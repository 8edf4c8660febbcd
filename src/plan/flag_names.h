// Flags of the kernel by the names that people know. Private to plan/.
#pragma once

#include <linux/mount.h>
#include <linux/sched.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll::plan {

struct FlagName {
  std::uint64_t flag;
  std::string_view name;
};

inline constexpr std::array<FlagName, 7> kNamespaceNames = {{{CLONE_NEWUSER, "user"},
                                                             {CLONE_NEWNS, "mount"},
                                                             {CLONE_NEWPID, "pid"},
                                                             {CLONE_NEWNET, "net"},
                                                             {CLONE_NEWIPC, "ipc"},
                                                             {CLONE_NEWUTS, "uts"},
                                                             {CLONE_NEWCGROUP, "cgroup"}}};
inline constexpr std::array<FlagName, 4> kAttributeNames = {{{MOUNT_ATTR_RDONLY, "ro"},
                                                             {MOUNT_ATTR_NOSUID, "nosuid"},
                                                             {MOUNT_ATTR_NODEV, "nodev"},
                                                             {MOUNT_ATTR_NOEXEC, "noexec"}}};
// The names of the flags that are set, with a blank between.
template <std::size_t kSize>
std::string FlagList(std::uint64_t flags, const std::array<FlagName, kSize>& names) {
  std::string list;
  for (const auto& [flag, name] : names) {
    if ((flags & flag) == 0) continue;
    if (!list.empty()) list += ' ';
    list += name;
  }
  return list;
}

}  // namespace plimsoll::plan
