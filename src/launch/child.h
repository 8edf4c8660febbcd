// What the cloned child does before it is init: id maps, capabilities, descriptors, exec.
#pragma once

#include <cstdint>

#include "init/wire.h"

namespace plimsoll::launch {

// Prepared by the caller; the child only reads it. It borrows the caller's memory, so nothing here
// may allocate.
struct ChildTask {
  const char* uid_map;
  const char* gid_map;
  std::uint64_t capabilities;  // mask
  std::uint32_t id_map_step;   // indices of these steps in the plan, for the report
  std::uint32_t capabilities_step;
  std::uint32_t exec_step;  // reported when init itself cannot be executed
  int report_fd;
  int init_fd;
  const int* fds;  // what is to be 0, 1, 2, 3, ... in init
  int fd_count;
};

// For sys::CloneVfork; `task` is a ChildTask. Does not return: executes init, or reports the failed
// step and exits with 125.
void BecomeInit(void* task);

}  // namespace plimsoll::launch
