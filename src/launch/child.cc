#include "launch/child.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace plimsoll::launch {
namespace {

constexpr int kSetupFailed = 125;
// Five, a detached mount for the root and each of 64 volumes, a socket, two streams of each of 19
// further commands, and the artifacts' pipe.
constexpr int kMostDescriptors = 5 + 65 + 1 + 38 + 1;

[[noreturn]] void Fail(const ChildTask& task, std::uint32_t step) {
  const init::Report report = {init::ReportKind::kStepFailed, step,
                               static_cast<std::uint32_t>(errno), 0, 0};
  if (::write(task.report_fd, &report, sizeof report) < 0) ::_exit(kSetupFailed);
  ::_exit(kSetupFailed);
}

bool WriteTo(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text, std::strlen(text)) >= 0;
  (void)::close(fd);
  return written;
}

// An unprivileged process may map only its own ids, and its gid only once setgroups is denied
// (user_namespaces(7)).
bool MapIds(const ChildTask& task) {
  return WriteTo("/proc/self/setgroups", "deny") && WriteTo("/proc/self/uid_map", task.uid_map) &&
         WriteTo("/proc/self/gid_map", task.gid_map);
}

// A program without file capabilities, executed by an id other than 0, keeps only the ambient set,
// and only what is inheritable too can be ambient (capabilities(7)).
bool KeepCapabilities(std::uint64_t mask) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  const auto low = static_cast<std::uint32_t>(mask);
  const auto high = static_cast<std::uint32_t>(mask >> 32U);
  sets[0] = {low, low, low};
  sets[1] = {high, high, high};
  if (::syscall(SYS_capset, &header, &sets[0]) != 0) return false;
  for (unsigned capability = 0; capability < 64; ++capability) {
    if ((mask >> capability & 1U) != 0 &&
        ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) {
      return false;
    }
  }
  return true;
}

// Every descriptor to its place, in two moves so that no source is overwritten before it is used;
// then everything else goes at the exec.
bool PlaceDescriptors(ChildTask& task) {
  int high[kMostDescriptors] = {};
  if (task.fd_count <= init::kReportFd || task.fd_count > kMostDescriptors) {
    errno = EMFILE;
    return false;
  }
  for (int i = 0; i < task.fd_count; ++i) {
    high[i] = ::fcntl(task.fds[i], F_DUPFD_CLOEXEC, task.fd_count + 1);
    if (high[i] < 0) return false;
  }
  task.report_fd = high[init::kReportFd];
  task.init_fd = ::fcntl(task.init_fd, F_DUPFD_CLOEXEC, task.fd_count + 1);
  if (task.init_fd < 0) return false;
  for (int i = 0; i < task.fd_count; ++i) {
    if (::dup2(high[i], i) < 0) return false;
  }
  return ::close_range(static_cast<unsigned>(task.fd_count), ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

}  // namespace

void BecomeInit(void* argument) {
  ChildTask task = *static_cast<const ChildTask*>(argument);
  if (!MapIds(task)) Fail(task, task.id_map_step);
  if (!KeepCapabilities(task.capabilities)) Fail(task, task.capabilities_step);
  if (!PlaceDescriptors(task)) Fail(task, task.exec_step);
  char name[] = "plimsoll-init";
  char* arguments[] = {name, nullptr};
  char* environment[] = {nullptr};
  (void)::syscall(SYS_execveat, task.init_fd, "", arguments, environment, AT_EMPTY_PATH);
  Fail(task, task.exec_step);
}

}  // namespace plimsoll::launch
