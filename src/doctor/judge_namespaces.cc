// Namespaces and what is mounted in them: the part of a host that refuses most often.

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "doctor/judge.h"

namespace plimsoll::doctor {
namespace {

constexpr const char* kMostUserNamespaces = "user.max_user_namespaces";
constexpr const char* kDebianSwitch = "kernel.unprivileged_userns_clone";
constexpr const char* kAppArmorSwitch = "kernel.apparmor_restrict_unprivileged_userns";
constexpr std::size_t kMostCoversNamed = 3;

const Trial& UserTrial(const Findings& findings) {
  return findings.namespaces.front().trial;
}

// The path as AppArmor reads it: quoted when it holds anything but plain characters, and what is a
// pattern escaped (apparmor.d(5)).
std::string ProfilePath(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";
  if (path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string out = "\"";
  for (const char c : path) {
    if (std::string_view("*?[]{}^\"\\@").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + "\"";
}

// One program may make user namespaces, and is confined in nothing else.
std::string ProfileCure(const std::string& program) {
  return "sudo tee /etc/apparmor.d/plimsoll <<'END'\n"
         "abi <abi/4.0>,\n"
         "profile plimsoll " +
         ProfilePath(program) +
         " flags=(unconfined) {\n"
         "  userns,\n"
         "}\n"
         "END\n"
         "sudo apparmor_parser -r /etc/apparmor.d/plimsoll";
}

Check NotTried(std::string name) {
  return {.name = std::move(name),
          .answer = Answer::kNo,
          .found = "not tried: it needs a user namespace",
          .cures = {}};
}

// Why the kernel refused, from what is known about this host; most certain first.
Check RefusedUserNamespace(const Findings& findings) {
  const Trial& trial = UserTrial(findings);
  const Surroundings& around = findings.surroundings;
  const std::string most = Setting(findings, kMostUserNamespaces);
  Check check = {.name = "user-namespaces", .answer = Answer::kNo, .found = {}, .cures = {}};
  if (trial.error == ENOSPC || most == "0") {
    check.found = "no more user namespaces are allowed (" + std::string(kMostUserNamespaces) + "=" +
                  most + ")";
    check.cures = {SetSysctl(kMostUserNamespaces, "15000")};
  } else if (Setting(findings, kDebianSwitch) == "0") {
    check.found = "this host forbids user namespaces to ordinary users (" +
                  std::string(kDebianSwitch) + "=0)";
    check.cures = {SetSysctl(kDebianSwitch, "1")};
  } else if (Setting(findings, kAppArmorSwitch) == "1") {
    check.found = "AppArmor restricts user namespaces of ordinary users (" +
                  std::string(kAppArmorSwitch) + "=1), and no profile lets " +
                  Quote(findings.program) + " make them";
    check.cures = {ProfileCure(findings.program), SetSysctl(kAppArmorSwitch, "0")};
  } else if (trial.error == EPERM && around.in_chroot) {
    check.found = "this process is in a chroot, where the kernel refuses user namespaces";
    check.cures = {"enter the tree by a mount namespace and pivot_root, or run outside of it"};
  } else if (around.has_seccomp && (trial.error == EPERM || trial.error == ENOSYS)) {
    check.found = "a seccomp filter around plimsoll, as container engines set it, forbids " +
                  trial.step + " with namespaces";
    check.cures = {
        "podman run --security-opt seccomp=PROFILE ...\n"
        "# PROFILE: the engine's own, with clone, clone3, unshare, mount, move_mount, "
        "fsopen, pivot_root and setns allowed",
        "podman run --security-opt seccomp=unconfined ...\n# the same for docker run"};
  } else if (trial.error == EAGAIN) {
    check.found = FailureText(trial) + "; this user has as many processes as it may have";
    check.cures = {"ulimit -u unlimited"};
  } else if (trial.error == EINVAL) {
    check.found = "this kernel is built without user namespaces";
    check.cures = {"a kernel that is built with CONFIG_USER_NS"};
  } else {
    check.found = FailureText(trial) + ", and no known setting of this host is the reason";
  }
  return check;
}

std::string HowItIsAllowed(const Findings& findings) {
  if (Setting(findings, kAppArmorSwitch) == "1") {
    const std::string& profile = findings.surroundings.apparmor_profile;
    return "AppArmor restricts them, but " +
           (profile.empty() ? "not for this program" : "profile " + Quote(profile) + " does not");
  }
  const std::string most = Setting(findings, kMostUserNamespaces);
  return most.empty() ? "one was made and its ids mapped"
                      : "one was made and its ids mapped (" + std::string(kMostUserNamespaces) +
                            "=" + most + ")";
}

// "net: clone3: No space left on device (ENOSPC)" and its cure.
void AddFailure(const Findings& findings, const NamespaceTrial& failed, Check& check) {
  if (!check.found.empty()) check.found += "; ";
  check.found += failed.name + ": ";
  if (failed.trial.error == ENOSPC) {
    check.found +=
        "no more are allowed (" + failed.setting + "=" + Setting(findings, failed.setting) + ")";
    check.cures.push_back(SetSysctl(failed.setting, "15000"));
    return;
  }
  check.found += FailureText(failed.trial);
  if (failed.trial.error == EINVAL && failed.trial.step == "clone3") {
    check.cures.push_back("a kernel that is built with " + failed.name + " namespaces");
  }
}

}  // namespace

Check JudgeUserNamespaces(const Findings& findings) {
  if (!UserTrial(findings).Worked()) return RefusedUserNamespace(findings);
  return {.name = "user-namespaces", .found = HowItIsAllowed(findings), .cures = {}};
}

Check JudgeNamespaces(const Findings& findings) {
  if (!UserTrial(findings).Worked()) return NotTried("namespaces");
  Check check = {.name = "namespaces", .found = {}, .cures = {}};
  std::vector<std::string> made;
  for (const NamespaceTrial& one : findings.namespaces) {
    if (one.trial.Worked()) {
      made.push_back(one.name);
    } else {
      check.answer = Answer::kNo;
      AddFailure(findings, one, check);
    }
  }
  if (check.answer == Answer::kYes) check.found = Join(made) + ": each was made and used";
  return check;
}

// A fresh /proc would show what the mounts on the outer one hide, so the kernel refuses it
// (mount_namespaces(7), "Restrictions on mount namespaces").
Check JudgeProc(const Findings& findings) {
  if (!findings.proc.tried) return NotTried("proc");
  if (findings.proc.Worked()) {
    return {.name = "proc", .found = "a fresh /proc can be mounted", .cures = {}};
  }
  Check check = {.name = "proc", .answer = Answer::kNo, .found = {}, .cures = {}};
  const std::vector<std::string>& covers = findings.proc_covers;
  if (findings.proc.error != EPERM || covers.empty()) {
    check.found = FailureText(findings.proc);
    return check;
  }
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(covers.size(), kMostCoversNamed); ++i) {
    named.push_back(Quote(covers[i]));
  }
  if (covers.size() > named.size()) named.emplace_back("...");
  check.found = "the outer /proc is masked (" + Join(named) +
                "), as in a container, so the kernel refuses a fresh one";
  check.cures = {"podman run --security-opt unmask=ALL ...",
                 "docker run --security-opt systempaths=unconfined ..."};
  return check;
}

Check JudgeOverlay(const Findings& findings) {
  Check check = {.name = "overlay", .answer = Answer::kWeaker, .found = {}, .cures = {}};
  if (!findings.overlay.tried) {
    check.found = "not tried: it needs a user namespace";
  } else if (findings.overlay.Worked()) {
    check.answer = Answer::kYes;
    check.found = "--writable-root and volumes at new places work";
  } else {
    check.found = "no --writable-root, and no volume at a place that the image lacks: " +
                  FailureText(findings.overlay);
    if (!findings.host.KernelAtLeast(6, 6)) check.cures = {"a kernel of 6.6 or newer"};
  }
  return check;
}

}  // namespace plimsoll::doctor
