#include "doctor/look.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::doctor {
namespace {

constexpr std::size_t kMaxProcFile = std::size_t{4} << 20U;  // mountinfo of a busy host

constexpr std::array<const char*, 10> kSettings = {"user.max_user_namespaces",
                                                   "user.max_mnt_namespaces",
                                                   "user.max_pid_namespaces",
                                                   "user.max_net_namespaces",
                                                   "user.max_ipc_namespaces",
                                                   "user.max_uts_namespaces",
                                                   "user.max_cgroup_namespaces",
                                                   "kernel.unprivileged_userns_clone",
                                                   "kernel.apparmor_restrict_unprivileged_userns",
                                                   "vm.memfd_noexec"};

// The file's text without its last newline; empty when it cannot be read.
std::string TextOf(const std::string& path) {
  auto text = sys::ReadFile(path, kMaxProcFile);
  if (!text) return {};
  if (text->ends_with('\n')) text->pop_back();
  return *std::move(text);
}

// Its lines; they own their text.
std::vector<std::string> LinesOf(const std::string& path) {
  const std::string text = TextOf(path);
  const auto lines = Split(text, '\n');
  return {lines.begin(), lines.end()};
}

void ReadSettings(Findings& findings) {
  for (const std::string name : kSettings) {
    std::string path = "/proc/sys/" + name;
    std::replace(path.begin(), path.end(), '.', '/');
    if (std::string value = TextOf(path); !value.empty()) findings.settings[name] = value;
  }
}

// Mount points by /proc/self/mountinfo (proc(5)): the fifth field of each line.
void ReadMounts(Findings& findings) {
  bool has_root = false;
  for (const std::string& line : LinesOf("/proc/self/mountinfo")) {
    const auto fields = Split(line, ' ');
    if (fields.size() < 5) continue;
    has_root |= fields[4] == "/";
    // What lies on an empty directory of the kernel's hides nothing, and does not matter.
    if (!fields[4].starts_with("/proc/") || fields[4] == "/proc/sys/fs/binfmt_misc") continue;
    findings.proc_covers.emplace_back(fields[4]);
  }
  findings.surroundings.in_chroot = !has_root;
}

bool IsFiltered() {
  for (const std::string& line : LinesOf("/proc/self/status")) {
    if (line.starts_with("Seccomp:")) return line.ends_with('2');
  }
  return false;
}

// From the file alone: the name service would load modules into a static program.
std::string GroupName(gid_t gid) {
  for (const std::string& line : LinesOf("/etc/group")) {
    const auto fields = Split(line, ':');
    if (fields.size() >= 3 && ParseUint(fields[2], UINT32_MAX) == gid)
      return std::string(fields[0]);
  }
  return std::to_string(gid);
}

std::vector<std::string> SupplementaryGroups() {
  std::vector<gid_t> gids(NGROUPS_MAX);
  const int count = ::getgroups(NGROUPS_MAX, gids.data());
  gids.resize(static_cast<std::size_t>(std::max(0, count)));
  std::vector<std::string> names;
  for (const gid_t gid : gids) {
    if (gid != ::getegid()) names.push_back(GroupName(gid));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<InheritedLimit> Limits() {
  constexpr std::array<std::pair<const char*, __rlimit_resource_t>, 6> kLimits = {
      {{"nproc", RLIMIT_NPROC},
       {"nofile", RLIMIT_NOFILE},
       {"as", RLIMIT_AS},
       {"data", RLIMIT_DATA},
       {"fsize", RLIMIT_FSIZE},
       {"cpu", RLIMIT_CPU}}};
  std::vector<InheritedLimit> limits;
  for (const auto& [name, resource] : kLimits) {
    struct rlimit value = {};
    if (::getrlimit(resource, &value) != 0) continue;
    InheritedLimit limit = {.name = name, .soft = {}, .hard = {}};
    if (value.rlim_cur != RLIM_INFINITY) limit.soft = value.rlim_cur;
    if (value.rlim_max != RLIM_INFINITY) limit.hard = value.rlim_max;
    limits.push_back(std::move(limit));
  }
  return limits;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

CgroupFindings LookAtCgroup(std::uint32_t uid) {
  CgroupFindings cgroup;
  for (const std::string& line : LinesOf("/proc/self/cgroup")) {
    if (line.starts_with("0::/")) cgroup.group = line.substr(3);
  }
  const std::string root = "/sys/fs/cgroup";
  const std::string group = root + cgroup.group;
  if (::access((group + "/cgroup.controllers").c_str(), F_OK) != 0) cgroup.group.clear();
  cgroup.writable =
      ::access((group + "/cgroup.procs").c_str(), W_OK) == 0 && ::access(group.c_str(), W_OK) == 0;
  cgroup.controllers = Words(TextOf(group + "/cgroup.controllers"));
  const std::string id = std::to_string(uid);
  cgroup.user_controllers = Words(TextOf(root + "/user.slice/user-" + id + ".slice/user@" + id +
                                         ".service/cgroup.controllers"));
  return cgroup;
}

// Tries two names for one file, in a folder of its own.
void TryLink(const std::string& folder, StoreFindings& store) {
  std::string work = folder + "/.doctor-XXXXXX";
  if (::mkdtemp(work.data()) == nullptr) {
    // Without the random part: the same finding reads the same twice.
    store.write_error = sys::ErrnoError("make a folder in " + Quote(folder));
    return;
  }
  auto file = sys::Open(work + "/a", O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file) {
    store.write_error = std::move(file).error();
  } else if (::link((work + "/a").c_str(), (work + "/b").c_str()) != 0) {
    store.link_error = errno;
  }
  if (auto removed = sys::RemoveTree(AT_FDCWD, work); !removed) {
    store.write_error = std::move(removed).error();
  }
}

}  // namespace

void LookAround(Findings& findings) {
  struct utsname names = {};
  if (::uname(&names) == 0) findings.machine = names.machine;
  std::array<char, PATH_MAX> path = {};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  findings.program.assign(path.data(), static_cast<std::size_t>(std::max<ssize_t>(0, length)));
  ReadSettings(findings);
  ReadMounts(findings);
  Surroundings& around = findings.surroundings;
  around.has_seccomp = IsFiltered();
  around.has_systemd = ::access("/run/systemd/system", F_OK) == 0;
  around.apparmor_profile = TextOf("/proc/self/attr/apparmor/current");
  around.groups = SupplementaryGroups();
  around.limits = Limits();
  findings.security_modules = TextOf("/sys/kernel/security/lsm");
  findings.cgroup = LookAtCgroup(findings.host.uid);
}

StoreFindings LookAtStore(const std::string& path, const std::string& instead) {
  StoreFindings store = {.path = path, .exists = instead.empty()};
  const std::string& folder = store.exists ? path : instead;
  if (auto opened = sys::Open(folder, O_PATH | O_DIRECTORY); !opened) {
    store.exists = false;
    store.write_error = std::move(opened).error();
    return store;
  }
  struct statvfs system = {};
  if (::statvfs(folder.c_str(), &system) != 0) {
    store.write_error = sys::ErrnoError("statvfs " + Quote(folder));
    return store;
  }
  store.noexec = (system.f_flag & ST_NOEXEC) != 0;
  store.free_bytes = std::uint64_t{system.f_bavail} * system.f_frsize;
  TryLink(folder, store);
  return store;
}

}  // namespace plimsoll::doctor
