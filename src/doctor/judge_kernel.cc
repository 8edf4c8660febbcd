// What the kernel itself brings: its version, Landlock, filters, executable memfds.

#include <array>
#include <cerrno>

#include "base/text.h"
#include "doctor/judge.h"

namespace plimsoll::doctor {
namespace {

// The oldest kernel that plimsoll is meant for: RLIMIT_NPROC counts per user namespace (5.14), and
// 5.15 is the first release after it with long support.
constexpr std::uint32_t kOldestMajor = 5;
constexpr std::uint32_t kOldestMinor = 15;

struct Novelty {
  std::uint32_t major;
  std::uint32_t minor;
  std::string_view brings;
};
constexpr std::array<Novelty, 7> kNovelties = {
    {{5, 19, "Landlock"},
     {6, 2, "Landlock for truncating files"},
     {6, 3, "memfds that say whether they may be executed"},
     {6, 6, "--writable-root"},
     {6, 7, "Landlock for TCP ports"},
     {6, 10, "Landlock for ioctl on devices"},
     {6, 12, "Landlock for abstract Unix sockets and signals"}}};

std::string Version(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

struct AbiGain {
  int abi;
  std::string_view guards;
};
// ABI 1 is not used: it refuses every rename into another directory.
constexpr std::array<AbiGain, 5> kAbiGains = {{{2, "files"},
                                               {3, "truncating"},
                                               {4, "TCP ports"},
                                               {5, "ioctl on devices"},
                                               {6, "abstract Unix sockets and signals"}}};

// Why there is no Landlock, and what brings it.
Check WithoutLandlock(const Findings& findings) {
  Check check = {.name = "landlock", .answer = Answer::kWeaker, .found = {}, .cures = {}};
  const std::string effect = "; the mount namespace and the filter stand alone";
  if (findings.host.landlock_abi == 1) {
    check.found = "ABI 1 is not used, since it breaks renames" + effect;
    check.cures = {"a kernel of 5.19 or newer"};
  } else if (findings.landlock_error == EOPNOTSUPP) {
    check.found = "the kernel has it, but it was not switched on at boot" + effect;
    check.cures = {
        "boot with the kernel parameter lsm=landlock," +
        (findings.security_modules.empty() ? std::string("...") : findings.security_modules)};
  } else if (findings.surroundings.has_seccomp && findings.landlock_error == EPERM) {
    check.found = "a seccomp filter around plimsoll forbids it" + effect;
  } else {
    check.found = "this kernel has none" + effect;
    check.cures = {"a kernel of 5.19 or newer that is built with CONFIG_SECURITY_LANDLOCK"};
  }
  return check;
}

}  // namespace

Check JudgeKernel(const Findings& findings) {
  const sys::HostFacts& host = findings.host;
  const std::string oldest = Version(kOldestMajor, kOldestMinor);
  if (!host.KernelAtLeast(kOldestMajor, kOldestMinor)) {
    return {.name = "kernel",
            .answer = Answer::kNo,
            .found = host.kernel_release + " is older than " + oldest,
            .cures = {"a kernel of " + oldest + " or newer"}};
  }
  std::string missing;
  for (const auto& [major, minor, brings] : kNovelties) {
    if (host.KernelAtLeast(major, minor)) continue;
    missing += (missing.empty() ? "; newer ones add " : ", ") + std::string(brings) + " (" +
               Version(major, minor) + ")";
  }
  return {.name = "kernel",
          .found = host.kernel_release + ", at least " + oldest + " is needed" + missing,
          .cures = {}};
}

Check JudgeMachine(const Findings& findings) {
  if (findings.machine == "x86_64") return {.name = "machine", .found = "x86_64", .cures = {}};
  return {.name = "machine",
          .answer = Answer::kNo,
          .found = "the kernel says " + Quote(findings.machine) +
                   "; the system call filter is made for x86_64",
          .cures = {"run plimsoll on x86-64 Linux, and not under 'setarch'"}};
}

Check JudgeLandlock(const Findings& findings) {
  const int abi = findings.host.landlock_abi;
  if (abi < kAbiGains.front().abi) return WithoutLandlock(findings);
  std::vector<std::string> guards;
  std::vector<std::string> missing;
  for (const auto& [from, what] : kAbiGains) {
    (abi >= from ? guards : missing).emplace_back(what);
  }
  Check check = {.name = "landlock", .found = "ABI " + std::to_string(abi), .cures = {}};
  check.found += " guards " + Join(guards);
  if (!missing.empty()) check.found += "; not yet " + Join(missing);
  return check;
}

Check JudgeSeccomp(const Findings& findings) {
  if (findings.seccomp.Worked()) {
    return {.name = "seccomp",
            .found = std::string("the kernel takes filters") +
                     (findings.surroundings.has_seccomp
                          ? "; one is around plimsoll already, and holds in the sandbox too"
                          : ""),
            .cures = {}};
  }
  return {.name = "seccomp",
          .answer = Answer::kNo,
          .found = FailureText(findings.seccomp),
          .cures = {"a kernel that is built with CONFIG_SECCOMP_FILTER"}};
}

Check JudgeMemfd(const Findings& findings) {
  constexpr const char* kSetting = "vm.memfd_noexec";
  const std::string value = Setting(findings, kSetting);
  Check check = {.name = "executable-memfd", .found = {}, .cures = {}};
  const std::string state =
      value.empty() ? std::string() : " (" + std::string(kSetting) + "=" + value + ")";
  if (findings.memfd.Worked()) {
    check.found = "the init program can be started from memory" + state;
    return check;
  }
  // launch/ has another way: a file without a name in the store.
  check.answer = Answer::kWeaker;
  check.found = FailureText(findings.memfd) + state +
                "; the init program is started from a file in the store instead";
  if (value == "2") check.cures = {SetSysctl(kSetting, "1")};
  return check;
}

}  // namespace plimsoll::doctor
