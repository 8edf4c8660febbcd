// The guard: what no profile can allow, whoever wrote it.
//
// It decides before the profile (Stack() in verdicts.h), so a profile of a container engine, made
// for guests with other walls around them, can stand in for ours and still lets no call through
// that reaches beyond the sandbox. What it lets pass (SECCOMP_RET_ALLOW) is the profile's to
// decide. Its table, in guard.cc, names each group of calls with its answer and the reason.
#pragma once

#include <linux/sched.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "policy/verdicts.h"

namespace plimsoll::policy {

// The highest system call that the shipped profile knows: set_mempolicy_home_node, the last one in
// the headers of Linux 6.1, with which the profile was made. A constant, and not what the build
// machine's headers say, so that the same policy is the same program everywhere.
inline constexpr std::uint32_t kHighestKnownCall = 450;

struct NamespaceFlag {
  std::uint64_t value;
  std::string_view name;
};

// The flags of clone(2) that make namespaces. CLONE_NEWTIME is not among them: its bit belongs to
// the exit signal there, and only unshare and clone3 take it.
inline constexpr std::array kNamespaceFlags = {NamespaceFlag{CLONE_NEWNS, "CLONE_NEWNS"},
                                               NamespaceFlag{CLONE_NEWCGROUP, "CLONE_NEWCGROUP"},
                                               NamespaceFlag{CLONE_NEWUTS, "CLONE_NEWUTS"},
                                               NamespaceFlag{CLONE_NEWIPC, "CLONE_NEWIPC"},
                                               NamespaceFlag{CLONE_NEWUSER, "CLONE_NEWUSER"},
                                               NamespaceFlag{CLONE_NEWPID, "CLONE_NEWPID"},
                                               NamespaceFlag{CLONE_NEWNET, "CLONE_NEWNET"}};

Verdicts Guard();

// Why the guard refuses this call, or some of its arguments; empty for calls it has no say in.
std::string_view GuardReason(std::uint32_t number);

}  // namespace plimsoll::policy
