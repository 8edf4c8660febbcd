// Landlock: a second wall of another kind behind the mount namespace and the filter.
//
// The guest may read and execute everything that it sees, and write where the plan gave it
// something writable. Which rights there are to handle depends on the kernel's ABI (landlock(7)).

#include "plan/draft.h"

namespace plimsoll::plan {
namespace {

using init::Phase;
using init::StepKind;

// Rights of landlock(7) by the ABI that brought them; the kernel headers of the build may be older.
constexpr std::uint64_t kExecute = 1U << 0U;
constexpr std::uint64_t kWriteFile = 1U << 1U;
constexpr std::uint64_t kReadFile = 1U << 2U;
constexpr std::uint64_t kReadDir = 1U << 3U;
constexpr std::uint64_t kFsAbi2 = (1U << 14U) - 1;  // the thirteen of ABI 1, and REFER
constexpr std::uint64_t kTruncate = 1U << 14U;      // ABI 3
constexpr std::uint64_t kIoctlDev = 1U << 15U;      // ABI 5
constexpr std::uint64_t kMakeChar = 1U << 6U;
constexpr std::uint64_t kMakeBlock = 1U << 11U;
constexpr std::uint64_t kNetConnectTcp = 1U << 1U;            // ABI 4; bind stays free
constexpr std::uint64_t kScopeAbstractUnixSocket = 1U << 0U;  // ABI 6
constexpr std::uint64_t kScopeSignal = 1U << 1U;              // ABI 6

// ABI 1 refuses every rename across directories, which breaks ordinary programs.
constexpr int kLowestAbi = 2;

std::uint64_t HandledFiles(int abi) {
  return kFsAbi2 | (abi >= 3 ? kTruncate : 0) | (abi >= 5 ? kIoctlDev : 0);
}

void AddRule(Draft& draft, std::string path, std::uint64_t rights) {
  draft.writer.Add({.phase = Phase::kGuest,
                    .kind = StepKind::kLandlockRule,
                    .text = {std::move(path)},
                    .number = {rights}});
}

}  // namespace

void AddLandlock(Draft& draft) {
  const int abi = draft.input.host.landlock_abi;
  if (abi < kLowestAbi) {
    draft.plan.warnings.push_back(
        "this kernel offers no usable Landlock; the run goes on behind the "
        "mount namespace and the filter alone");
    return;
  }
  const std::uint64_t handled = HandledFiles(abi);
  draft.writer.Add({.phase = Phase::kGuest,
                    .kind = StepKind::kLandlockRuleset,
                    .number = {handled, abi >= 4 ? kNetConnectTcp : 0,
                               abi >= 6 ? kScopeAbstractUnixSocket | kScopeSignal : 0}});
  const std::uint64_t read = kExecute | kReadFile | kReadDir;
  const std::uint64_t devices = kWriteFile | (handled & (kTruncate | kIoctlDev));
  const std::uint64_t write = handled & ~(kMakeChar | kMakeBlock);
  // A writable root is writable everywhere.
  AddRule(draft, "/", draft.input.request.writable_root ? write : read);
  AddRule(draft, "/dev", read | devices);
  AddRule(draft, "/proc",
          read | kWriteFile | (handled & kTruncate));  // its own oom_score_adj, fd/N
  for (const char* path : {"/work", "/tmp", "/run", "/dev/shm"})
    AddRule(draft, path, write);
  for (const CheckedVolume& volume : draft.volumes) {
    if (!volume.writable) continue;
    AddRule(draft, volume.target, volume.is_directory ? write : kExecute | kReadFile | devices);
  }
  draft.writer.Add({.phase = Phase::kGuest, .kind = StepKind::kLandlockRestrict});
}

}  // namespace plimsoll::plan
