// clone3(2) in the way of vfork: the child borrows the caller's memory until it executes a program.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/error.h"
#include "sys/unique_fd.h"

namespace plimsoll::sys {

struct ClonedChild {
  pid_t pid = -1;
  UniqueFd pidfd;
};

// Runs `child(argument)` in a new process with CLONE_VM | CLONE_VFORK, `namespaces` (CLONE_NEW*
// flags) and a pidfd, in the cgroup `cgroup_fd` when that is not -1; returns once the child has
// executed a program or ended. Every signal is blocked in the child, which must not return,
// allocate, lock, or touch what the caller would miss.
//
// Errors: kHost with the errno of clone3(2).
Result<ClonedChild> CloneVfork(std::uint64_t namespaces, int cgroup_fd, void (*child)(void*),
                               void* argument);

}  // namespace plimsoll::sys
