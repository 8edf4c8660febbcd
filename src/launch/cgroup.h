// A cgroup of the run's own, where one can be had: the limits that the kernel itself enforces.
//
// Source: the kernel's cgroup-v2 documentation; cgroups(7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "plan/sandbox_plan.h"
#include "sys/unique_fd.h"

namespace plimsoll::launch {

// What a group's processes have used together.
struct CgroupUse {
  std::uint64_t cpu_ms = 0;
  std::uint64_t peak_memory_bytes = 0;  // 0: the kernel does not count it (before 5.19)
  bool oom_killed = false;
};

// A fresh group below the delegated one; removed with the object, when its processes are gone.
class RunCgroup {
 public:
  // Makes the group and writes the plan's limits. This process moves to a leaf of its own first,
  // since a group that hands controllers down may hold no process itself.
  //
  // Errors: kHost; nothing is left behind.
  static Result<RunCgroup> Make(const plan::CgroupPlan& plan);

  RunCgroup(RunCgroup&&) noexcept = default;
  RunCgroup& operator=(RunCgroup&&) noexcept = default;
  RunCgroup(const RunCgroup&) = delete;
  RunCgroup& operator=(const RunCgroup&) = delete;
  ~RunCgroup();

  // For CLONE_INTO_CGROUP.
  int Fd() const { return directory_.Get(); }
  CgroupUse Use() const;

 private:
  RunCgroup() = default;
  Result<void> Write(const char* file, const std::string& value) const;

  sys::UniqueFd parent_;
  sys::UniqueFd directory_;
  std::string name_;
};

}  // namespace plimsoll::launch
