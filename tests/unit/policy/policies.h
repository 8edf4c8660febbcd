// The shipped policies as sources, small profiles of the tests' own, and arguments that tell rules
// apart. For the tests of this folder.
#pragma once

#include <gtest/gtest.h>
#include <linux/seccomp.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "policy/difference.h"
#include "policy/profile.h"
#include "policy/shipped.h"
#include "policy/source.h"
#include "policy/verdicts.h"

namespace plimsoll::policy {

using Names = std::vector<std::string>;
using Arguments = std::array<std::uint64_t, 6>;

// Every set of differences that a run can call for.
inline const std::vector<Names>& DifferenceSets() {
  static const std::vector<Names> sets = {{}, {"rw-volume"}, {"sdk"}, {"rw-volume", "sdk"}};
  return sets;
}

// What every policy refuses whatever the arguments are, because it reaches beyond the sandbox.
inline const Names& NamesDeniedOnPurpose() {
  static const Names names = {"ptrace",
                              "process_vm_readv",
                              "process_vm_writev",
                              "pidfd_getfd",
                              "io_uring_setup",
                              "io_uring_enter",
                              "io_uring_register",
                              "userfaultfd",
                              "perf_event_open",
                              "bpf",
                              "keyctl",
                              "add_key",
                              "request_key",
                              "unshare",
                              "setns",
                              "clone3",
                              "mount",
                              "umount2",
                              "open_tree",
                              "move_mount",
                              "fsopen",
                              "fsconfig",
                              "fsmount",
                              "fspick",
                              "mount_setattr",
                              "pivot_root",
                              "chroot",
                              "name_to_handle_at",
                              "open_by_handle_at",
                              "modify_ldt",
                              "kexec_load",
                              "kexec_file_load",
                              "init_module",
                              "finit_module",
                              "delete_module",
                              "create_module",
                              "reboot",
                              "swapon",
                              "swapoff",
                              "settimeofday",
                              "clock_settime",
                              "clock_adjtime",
                              "adjtimex",
                              "shmget",
                              "shmat",
                              "shmctl",
                              "shmdt",
                              "semget",
                              "semop",
                              "semctl",
                              "semtimedop",
                              "msgget",
                              "msgsnd",
                              "msgrcv",
                              "msgctl",
                              "acct",
                              "quotactl",
                              "iopl",
                              "ioperm",
                              "sethostname",
                              "setdomainname",
                              "nfsservctl"};
  return names;
}

inline Source SourceOf(const Names& differences, const std::string& profile = "default") {
  auto source = ReadSource(profile, differences, {});
  if (source) return *std::move(source);
  ADD_FAILURE() << source.error().Message();
  return {};
}

inline Profile ProfileOf(const std::string& text) {
  auto profile = ParseProfile(text, "test.json");
  if (profile) return *std::move(profile);
  ADD_FAILURE() << profile.error().Message();
  return {};
}

// A profile of ours around `entries`, the text of the items of "syscalls"; all else is EPERM.
inline std::string ProfileText(const std::string& entries) {
  return R"({"defaultAction":"SCMP_ACT_ERRNO","syscalls":[)" + entries + "]}";
}

inline Source SourceOfText(const std::string& text) {
  return {.name = "test.json", .profile = ProfileOf(text)};
}

inline Difference DifferenceOf(const std::string& text) {
  auto difference = ParseDifference(text, "test.json");
  if (difference) return *std::move(difference);
  ADD_FAILURE() << difference.error().Message();
  return {};
}

inline Verdicts VerdictsFor(const Source& source) {
  auto verdicts = VerdictsOf(source);
  if (verdicts) return *std::move(verdicts);
  ADD_FAILURE() << verdicts.error().Message();
  return Verdicts(Decision{});
}

inline bool LetsPass(std::uint32_t action) {
  const std::uint32_t kind = action & SECCOMP_RET_ACTION_FULL;
  return kind == SECCOMP_RET_ALLOW || kind == SECCOMP_RET_LOG;
}

// Values at which a test changes its answer, with their neighbours and with other high halves.
inline std::set<std::uint64_t> ValuesAround(const ArgTest& test) {
  std::set<std::uint64_t> values;
  for (const std::uint64_t value : {test.value, test.value + 1, test.value - 1,
                                    test.value | ~test.mask, test.value ^ test.mask}) {
    values.insert({value, value ^ 1ULL << 32U, value | UINT64_MAX << 32U});
  }
  for (std::uint64_t bit = 1; bit != 0; bit <<= 1U) {
    if (test.mask != UINT64_MAX && (test.mask & bit) != 0) values.insert(test.value ^ bit);
  }
  return values;
}

// For each rule of a decision: arguments with which it holds as far as it goes by itself, and the
// same with one argument changed at a time.
inline std::set<Arguments> TellingArguments(const Decision& decision) {
  std::set<Arguments> found = {Arguments{}};
  for (const Rule& rule : decision.rules) {
    Arguments holds{};
    for (const ArgTest& test : rule.tests) {
      const bool is_greater = test.comparison == Comparison::kGreater && !test.negated;
      const bool is_unequal = test.comparison == Comparison::kEqual && test.negated;
      holds[test.index] = is_unequal ? ~test.value : test.value + (is_greater ? 1 : 0);
    }
    found.insert(holds);
    for (const ArgTest& test : rule.tests) {
      for (const std::uint64_t value : ValuesAround(test)) {
        Arguments other = holds;
        other[test.index] = value;
        found.insert(other);
      }
    }
  }
  return found;
}

}  // namespace plimsoll::policy
