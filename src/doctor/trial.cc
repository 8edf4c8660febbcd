#include "doctor/trial.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sys/clone.h"
#include "sys/file.h"

namespace plimsoll::doctor {
namespace {

constexpr long kLandlockCreateRuleset = 444;  // x86-64
constexpr unsigned kLandlockVersionFlag = 1;

// Uses what the child has just got. Returns the call that failed, with errno, or null. The child
// borrows our memory: no allocation.
using Use = const char* (*)();

struct ChildTask {
  const char* uid_map;
  const char* gid_map;
  Use use;
  const char* failed = nullptr;
  int error = 0;
};

bool WriteTo(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text, std::strlen(text)) >= 0;
  const int error = errno;
  (void)::close(fd);
  errno = error;
  return written;
}

// As launch/child.cc does it for a run.
const char* MapIds(const ChildTask& task) {
  if (!WriteTo("/proc/self/setgroups", "deny")) return "write '/proc/self/setgroups'";
  if (!WriteTo("/proc/self/uid_map", task.uid_map)) return "write '/proc/self/uid_map'";
  if (!WriteTo("/proc/self/gid_map", task.gid_map)) return "write '/proc/self/gid_map'";
  return nullptr;
}

void RunChild(void* argument) {
  ChildTask& task = *static_cast<ChildTask*>(argument);
  task.failed = MapIds(task);
  if (task.failed == nullptr && task.use != nullptr) task.failed = task.use();
  task.error = task.failed == nullptr ? 0 : errno;
  ::_exit(0);
}

const char* UseMounts() {
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? nullptr : "mount '/'";
}

const char* UseProcesses() {
  errno = EPERM;
  return ::getpid() == 1 ? nullptr : "getpid";
}

const char* UseNetwork() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return "socket";
  struct ifreq request = {};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP;
  const bool up = ::ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  const int error = errno;
  (void)::close(fd);
  errno = error;
  return up ? nullptr : "ioctl SIOCSIFFLAGS";
}

const char* UseHostName() {
  return ::sethostname("plimsoll", 8) == 0 ? nullptr : "sethostname";
}

const char* UseProc() {
  if (const char* failed = UseMounts()) return failed;
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  return ::mount("proc", "/proc", "proc", kFlags, "hidepid=invisible") == 0 ? nullptr
                                                                            : "mount proc";
}

// On /proc, since every host has that directory.
const char* UseOverlay() {
  if (const char* failed = UseMounts()) return failed;
  if (::mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "size=64k") != 0) {
    return "mount tmpfs";
  }
  for (const char* path : {"/proc/root", "/proc/upper", "/proc/overlay"}) {
    if (::mkdir(path, 0700) != 0) return "mkdir";
  }
  if (::setxattr("/proc/upper", "user.plimsoll", "", 0, 0) != 0) {
    return "set a user xattr on tmpfs";
  }
  constexpr const char* kLayers =
      "lowerdir=/proc/root,upperdir=/proc/upper,workdir=/proc/overlay,userxattr";
  return ::mount("overlay", "/proc/root", "overlay", MS_NOSUID | MS_NODEV, kLayers) == 0
             ? nullptr
             : "mount overlay";
}

struct IdMaps {
  std::string uid;
  std::string gid;
};

Trial TryInNamespaces(std::uint64_t namespaces, const IdMaps& maps, Use use) {
  ChildTask task = {.uid_map = maps.uid.c_str(), .gid_map = maps.gid.c_str(), .use = use};
  auto child = sys::CloneVfork(namespaces, -1, RunChild, &task);
  if (!child) return {.step = "clone3", .error = child.error().sys_errno};
  siginfo_t info = {};
  // It has ended: what clone3 waited for was its _exit.
  (void)::waitid(P_PIDFD, static_cast<id_t>(child->pidfd.Get()), &info, WEXITED);
  return {.step = task.failed == nullptr ? "" : task.failed, .error = task.error};
}

struct NamespaceKind {
  std::uint64_t flag;
  const char* name;
  const char* setting;
  Use use;
};
constexpr std::array<NamespaceKind, 7> kNamespaces = {{
    {0, "user", "user.max_user_namespaces", nullptr},
    {CLONE_NEWNS, "mount", "user.max_mnt_namespaces", UseMounts},
    {CLONE_NEWPID, "pid", "user.max_pid_namespaces", UseProcesses},
    {CLONE_NEWNET, "net", "user.max_net_namespaces", UseNetwork},
    {CLONE_NEWIPC, "ipc", "user.max_ipc_namespaces", nullptr},
    {CLONE_NEWUTS, "uts", "user.max_uts_namespaces", UseHostName},
    {CLONE_NEWCGROUP, "cgroup", "user.max_cgroup_namespaces", nullptr},
}};

}  // namespace

void TryNamespaces(std::uint32_t uid, std::uint32_t gid, Findings& findings) {
  const IdMaps maps = {.uid = "1000 " + std::to_string(uid) + " 1\n",
                       .gid = "1000 " + std::to_string(gid) + " 1\n"};
  for (const NamespaceKind& kind : kNamespaces) {
    Trial trial = {.step = {}, .error = 0, .tried = false};
    if (findings.namespaces.empty() || findings.namespaces.front().trial.Worked()) {
      trial = TryInNamespaces(CLONE_NEWUSER | kind.flag, maps, kind.use);
    }
    findings.namespaces.push_back({.name = kind.name, .setting = kind.setting, .trial = trial});
  }
  findings.proc.tried = findings.namespaces.front().trial.Worked();
  findings.overlay.tried = findings.proc.tried;
  if (!findings.proc.tried) return;
  findings.proc = TryInNamespaces(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID, maps, UseProc);
  findings.overlay = TryInNamespaces(CLONE_NEWUSER | CLONE_NEWNS, maps, UseOverlay);
}

Trial TryExecutableMemfd() {
  const auto fd = sys::SealedMemfd("plimsoll-doctor", "", true);
  return fd ? Trial{} : Trial{.step = "memfd_create", .error = fd.error().sys_errno};
}

Trial TrySeccomp() {
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0) return {};
  return {.step = "seccomp", .error = errno};
}

int LandlockError() {
  const long version = ::syscall(kLandlockCreateRuleset, nullptr, 0, kLandlockVersionFlag);
  return version < 0 ? errno : 0;
}

}  // namespace plimsoll::doctor
