#include "launch/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::launch {
namespace {

constexpr std::size_t kMaxFileBytes = 65536;
constexpr std::uint32_t kGroupMode = 0755;
constexpr const char* kLeaf = "plimsoll-runner";

Result<void> WriteFile(int directory, const std::string& file, const std::string& value) {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd, sys::OpenAt(directory, file, O_WRONLY));
  return sys::WriteAll(fd.Get(), value, file);
}

// The value behind `key` in lines of "key value"; 0 when there is none.
std::uint64_t ValueOf(int directory, const char* file, std::string_view key) {
  const auto fd = sys::OpenAt(directory, file, O_RDONLY);
  if (!fd) return 0;
  const auto text = sys::ReadAll(fd->Get(), kMaxFileBytes, file);
  if (!text) return 0;
  for (const std::string_view line : Split(*text, '\n')) {
    if (key.empty()) return ParseUint(line).value_or(0);
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' ')) {
      return ParseUint(line.substr(key.size() + 1)).value_or(0);
    }
  }
  return 0;
}

Result<void> MakeGroup(int parent, const std::string& name) {
  if (::mkdirat(parent, name.c_str(), kGroupMode) == 0 || errno == EEXIST) return {};
  return sys::ErrnoError("mkdir of cgroup " + Quote(name));
}

}  // namespace

Result<RunCgroup> RunCgroup::Make(const plan::CgroupPlan& plan) {
  RunCgroup group;
  PLIMSOLL_TRY_ASSIGN(group.parent_, sys::Open(plan.parent, O_RDONLY | O_DIRECTORY));
  PLIMSOLL_TRY(MakeGroup(group.parent_.Get(), kLeaf));
  PLIMSOLL_TRY(WriteFile(group.parent_.Get(), std::string(kLeaf) + "/cgroup.procs", "0"));
  PLIMSOLL_TRY(WriteFile(group.parent_.Get(), "cgroup.subtree_control", "+memory +pids +cpu"));
  const std::string name = "plimsoll-" + std::to_string(::getpid());
  PLIMSOLL_TRY(MakeGroup(group.parent_.Get(), name));
  group.name_ = name;  // from here on the destructor removes it
  PLIMSOLL_TRY_ASSIGN(group.directory_,
                      sys::OpenAt(group.parent_.Get(), name, O_RDONLY | O_DIRECTORY));
  PLIMSOLL_TRY(group.Write("memory.max", plan.memory_max));
  // The limit is on memory and swap together: swapping a guest out would only move the harm. Where
  // the kernel counts no swap, there is no such file.
  if (::faccessat(group.directory_.Get(), "memory.swap.max", F_OK, 0) == 0) {
    PLIMSOLL_TRY(group.Write("memory.swap.max", "0"));
  }
  PLIMSOLL_TRY(group.Write("memory.oom.group", "1"));  // half a sandbox is of no use
  PLIMSOLL_TRY(group.Write("pids.max", plan.pids_max));
  PLIMSOLL_TRY(group.Write("cpu.max", plan.cpu_max));
  return group;
}

RunCgroup::~RunCgroup() {
  if (name_.empty() || !parent_.IsOpen()) return;
  // Best effort: what cannot be removed is empty, and goes with the scope that it lies in.
  (void)::unlinkat(parent_.Get(), name_.c_str(), AT_REMOVEDIR);
}

Result<void> RunCgroup::Write(const char* file, const std::string& value) const {
  if (value.empty()) return {};
  auto written = WriteFile(directory_.Get(), file, value);
  if (!written) return std::move(written).error().In("limit " + Quote(value) + " of the cgroup");
  return {};
}

CgroupUse RunCgroup::Use() const {
  return {.cpu_ms = ValueOf(Fd(), "cpu.stat", "usage_usec") / 1000,
          .peak_memory_bytes = ValueOf(Fd(), "memory.peak", ""),
          .oom_killed = ValueOf(Fd(), "memory.events", "oom_kill") > 0};
}

}  // namespace plimsoll::launch
