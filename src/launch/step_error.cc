// A failed step in words, with the known causes and their cures.

#include <cerrno>

#include "launch/spawn.h"
#include "plan/plan_reader.h"
#include "sys/file.h"

namespace plimsoll::launch {
namespace {

using init::StepKind;

constexpr std::size_t kMaxSettingBytes = 64;
constexpr const char* kSettings = "/proc/sys";

// A setting without its newline; empty when it is not there.
std::string Setting(const std::string& path) {
  auto text = sys::ReadFile(path, kMaxSettingBytes);
  if (!text) return {};
  while (!text->empty() && text->back() == '\n')
    text->pop_back();
  return *std::move(text);
}

std::string HintFor(StepKind kind, const plan::StepView& step, int number) {
  switch (kind) {
    case StepKind::kNamespaces:
      return number == EINVAL
                 ? "this kernel lacks one of the namespaces; plimsoll needs Linux 5.15 or "
                   "newer"
                 : NamespaceHint(number, kSettings);
    case StepKind::kIdMap:
    case StepKind::kKeepCapabilities:
      return number == EPERM || number == EACCES ? NamespaceHint(number, kSettings) : std::string();
    case StepKind::kMountFilesystem:
      return step.text[1] == "proc" && number == EPERM
                 ? "the outer /proc is masked, as in a container, so the kernel refuses a fresh one"
                 : std::string();
    case StepKind::kOverlayRoot:
      return "this kernel refuses an overlay in a user namespace here; it needs Linux 5.11, and "
             "user "
             "xattrs on tmpfs (6.6) for --writable-root";
    case StepKind::kExecuteInit:
      return number == EACCES || number == EPERM
                 ? "this host forbids executable memfds (vm.memfd_noexec=2); 'sysctl "
                   "vm.memfd_noexec=1' "
                   "allows them"
                 : std::string();
    case StepKind::kBind:
      return number == ESTALE ? "the volume's source was replaced while the run was being prepared"
                              : std::string();
    case StepKind::kWriteFile:
    case StepKind::kMakeDirectory:
      return number == ENOSPC ? "the run's tmpfs is full; a larger --tmpfs-size makes room"
                              : std::string();
    case StepKind::kWorkingDirectory:
      return number == ENOENT ? "the image has no such directory; --workdir names another"
                              : std::string();
    default:
      return {};
  }
}

}  // namespace

std::string NamespaceHint(int error_number, const std::string& settings) {
  const std::string most = Setting(settings + "/user/max_user_namespaces");
  if (error_number == ENOSPC || most == "0") {
    return "the limit of user namespaces is reached (user.max_user_namespaces=" + most +
           "); raise it with 'sysctl user.max_user_namespaces=15000'";
  }
  if (Setting(settings + "/kernel/unprivileged_userns_clone") == "0") {
    return "this host forbids unprivileged user namespaces (kernel.unprivileged_userns_clone=0); "
           "'sysctl kernel.unprivileged_userns_clone=1' allows them";
  }
  if (Setting(settings + "/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "AppArmor restricts unprivileged user namespaces on this host "
           "(kernel.apparmor_restrict_unprivileged_userns=1); 'plimsoll doctor' prints the profile "
           "that allows them for plimsoll alone";
  }
  return "this host does not let this user make the namespaces of a sandbox; 'plimsoll doctor' "
         "looks for the reason";
}

Error StepError(const plan::SandboxPlan& plan, std::uint32_t index, int error_number) {
  const std::vector<plan::StepView> steps = plan::ReadSteps(plan.bytes);
  if (index >= steps.size()) {
    return Error{.kind = ErrorKind::kHost,
                 .what = "init could not read its plan",
                 .sys_errno = error_number};
  }
  const plan::StepView& step = steps[index];
  const bool exhausted = step.kind == StepKind::kNamespaces && error_number == ENOSPC;
  return Error{.kind = ErrorKind::kHost,
               .what = "sandbox step " + std::to_string(index) + " of " +
                       std::to_string(steps.size()) + " (" +
                       std::string(plan::KindName(step.kind)) + "), " + plan::Describe(step) +
                       (exhausted ? ": no more user namespaces are allowed" : ""),
               .hint = HintFor(step.kind, step, error_number),
               // "No space left on device" would send the reader to the disk.
               .sys_errno = exhausted ? 0 : error_number};
}

}  // namespace plimsoll::launch
