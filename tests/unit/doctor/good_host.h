// A host on which everything is as plimsoll wants it, for tests that spoil one thing, and ways to
// look at the checks.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"
#include "doctor/findings.h"

namespace plimsoll::doctor {

inline Findings GoodHost() {
  Findings findings;
  findings.host.uid = 1001;
  findings.host.gid = 1001;
  findings.host.kernel_release = "6.12.0";
  findings.host.kernel_major = 6;
  findings.host.kernel_minor = 12;
  findings.host.landlock_abi = 6;
  findings.machine = "x86_64";
  findings.program = "/usr/bin/plimsoll";
  findings.settings = {{"user.max_user_namespaces", "15000"}, {"vm.memfd_noexec", "0"}};
  findings.surroundings.has_systemd = true;
  for (const char* name : {"user", "mount", "pid", "net", "ipc", "uts", "cgroup"}) {
    findings.namespaces.push_back({.name = name, .setting = {}, .trial = {}});
  }
  findings.cgroup = {.group = "/a",
                     .writable = true,
                     .controllers = {"cpu", "memory", "pids"},
                     .user_controllers = {"cpu", "memory", "pids"}};
  findings.store = {.path = "/home/u/.local/share/plimsoll", .exists = true};
  findings.store.free_bytes = std::uint64_t{1} << 30U;
  return findings;
}

// The namespace cannot be made, and what needs it is not tried.
inline Findings WithoutUserNamespaces(int error, const std::string& step = "clone3") {
  Findings findings = GoodHost();
  for (NamespaceTrial& one : findings.namespaces)
    one.trial.tried = false;
  findings.namespaces.front().trial = {.step = step, .error = error};
  findings.proc.tried = false;
  findings.overlay.tried = false;
  findings.run_error = Error{.kind = ErrorKind::kHost, .what = "sandbox step 0"};
  return findings;
}

inline Check CheckOf(const Findings& findings, const std::string& name) {
  for (Check& check : Judge(findings)) {
    if (check.name == name) return std::move(check);
  }
  return {.name = "no check '" + name + "'", .answer = Answer::kNo, .found = {}, .cures = {}};
}

}  // namespace plimsoll::doctor
