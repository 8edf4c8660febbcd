#include "sys/host.h"

#include <linux/capability.h>
#include <linux/magic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::sys {
namespace {

constexpr int kLandlockCreateRuleset = 444;  // x86-64; also in kernels' headers from 5.13 on
constexpr unsigned kLandlockVersionFlag = 1;
constexpr std::size_t kMaxCgroupFile = 65536;
constexpr std::size_t kMaxUidMap = 65536;

void ReadKernel(HostFacts& host) {
  struct utsname names = {};
  if (::uname(&names) != 0) return;
  host.kernel_release = names.release;
  const auto parts = Split(host.kernel_release, '.');
  if (parts.size() < 2) return;
  const auto leading = [](std::string_view text) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    return static_cast<std::uint32_t>(ParseUint(text.substr(0, end), UINT32_MAX).value_or(0));
  };
  host.kernel_major = leading(parts[0]);
  host.kernel_minor = leading(parts[1]);
}

std::uint32_t LastCapability() {
  std::uint32_t last = CAP_LAST_CAP;
  while (last < 63 && ::prctl(PR_CAPBSET_READ, last + 1, 0, 0, 0) >= 0)
    ++last;
  while (last > 0 && ::prctl(PR_CAPBSET_READ, last, 0, 0, 0) < 0)
    --last;
  return last;
}

std::uint64_t HardLimit(__rlimit_resource_t resource) {
  struct rlimit limit = {};
  return ::getrlimit(resource, &limit) == 0 ? limit.rlim_max : 0;
}

// The directory of our own group in the unified hierarchy; empty when there is none.
std::string OwnCgroup() {
  struct statfs root = {};
  if (::statfs("/sys/fs/cgroup", &root) != 0 || root.f_type != CGROUP2_SUPER_MAGIC) return {};
  const auto membership = ReadFile("/proc/self/cgroup", kMaxCgroupFile);
  if (!membership) return {};
  for (const std::string_view line : Split(*membership, '\n')) {
    if (!line.starts_with("0::/")) continue;
    return line == "0::/" ? "/sys/fs/cgroup" : "/sys/fs/cgroup" + std::string(line.substr(3));
  }
  return {};
}

// Delegated: we may make groups in it and put processes there, and the controllers that we need are
// handed down to it (cgroups(7), "Cgroup delegation").
bool IsDelegated(const std::string& group) {
  if (::access((group + "/cgroup.procs").c_str(), W_OK) != 0 ||
      ::access(group.c_str(), W_OK) != 0) {
    return false;
  }
  auto controllers = ReadFile(group + "/cgroup.controllers", kMaxCgroupFile);
  if (!controllers) return false;
  if (controllers->ends_with('\n')) controllers->pop_back();
  const auto names = Split(*controllers, ' ');
  return std::find(names.begin(), names.end(), "memory") != names.end() &&
         std::find(names.begin(), names.end(), "pids") != names.end();
}

}  // namespace

bool IsRootOfHost() {
  if (::geteuid() != 0) return false;
  // The initial namespace maps every id to itself: "0 0 4294967295" (user_namespaces(7)).
  const auto map = ReadFile("/proc/self/uid_map", kMaxUidMap);
  return !map || map->find("4294967295") != std::string::npos;
}

HostFacts ProbeHost() {
  HostFacts host;
  host.uid = ::geteuid();
  host.gid = ::getegid();
  ReadKernel(host);
  host.landlock_abi = static_cast<int>(
      std::max(0L, ::syscall(kLandlockCreateRuleset, nullptr, 0, kLandlockVersionFlag)));
  host.last_capability = LastCapability();
  struct sysinfo info = {};
  if (::sysinfo(&info) == 0) host.memory_bytes = std::uint64_t{info.totalram} * info.mem_unit;
  host.descriptor_limit = HardLimit(RLIMIT_NOFILE);
  host.core_limit = HardLimit(RLIMIT_CORE);
  host.cpu_limit = HardLimit(RLIMIT_CPU);
  host.task_limit = HardLimit(RLIMIT_NPROC);
  host.signal_limit = HardLimit(RLIMIT_SIGPENDING);
  if (const std::string group = OwnCgroup(); !group.empty() && IsDelegated(group)) {
    host.cgroup = group;
  }
  return host;
}

}  // namespace plimsoll::sys
