#include "run/watchdog.h"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::run {
namespace {

constexpr std::size_t kMaxProcFile = 65536;

// Fields of proc_pid_stat(5), counted from the one behind the command's closing parenthesis: state
// is 0, utime 11, stime 12, cutime 13, cstime 14, num_threads 17, rss 21.
constexpr std::size_t kUserTime = 11;
constexpr std::size_t kLastTime = 14;
constexpr std::size_t kThreads = 17;
constexpr std::size_t kResidentPages = 21;

std::optional<std::string> ReadEntry(int proc, const std::string& path) {
  const auto fd = sys::OpenAt(proc, path, O_RDONLY);
  if (!fd) return std::nullopt;  // the process has ended meanwhile
  auto text = sys::ReadAll(fd->Get(), kMaxProcFile, path);
  if (!text) return std::nullopt;
  return *std::move(text);
}

// Adds one process; the command may hold blanks and parentheses, so the last ")" ends it.
void AddStat(std::string_view stat, Usage& usage) {
  const std::size_t end = stat.rfind(") ");
  if (end == std::string_view::npos) return;
  const auto fields = Split(stat.substr(end + 2), ' ');
  if (fields.size() <= kResidentPages) return;
  std::uint64_t ticks = 0;
  for (std::size_t i = kUserTime; i <= kLastTime; ++i)
    ticks += ParseUint(fields[i]).value_or(0);
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  usage.tasks += ParseUint(fields[kThreads]).value_or(0);
  usage.cpu += std::chrono::milliseconds(ticks * 1000 / per_second);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  usage.memory_bytes += ParseUint(fields[kResidentPages]).value_or(0) * page;
}

// "Pss:   1234 kB" of proc_pid_smaps_rollup(5), in bytes.
std::uint64_t ProportionalBytes(std::string_view rollup) {
  for (const std::string_view line : Split(rollup, '\n')) {
    if (!line.starts_with("Pss:")) continue;
    const std::size_t digit = line.find_first_of("0123456789");
    const std::size_t unit = line.find(" kB");
    if (digit == std::string_view::npos || unit == std::string_view::npos) return 0;
    return ParseUint(line.substr(digit, unit - digit)).value_or(0) * 1024;
  }
  return 0;
}

std::uint64_t FileSystemBytes(int fd) {
  struct statfs status = {};
  if (fd < 0 || ::fstatfs(fd, &status) != 0) return 0;
  return (status.f_blocks - status.f_bfree) * static_cast<std::uint64_t>(status.f_bsize);
}

}  // namespace

Watchdog::Watchdog(pid_t init_pid, std::string scratch)
    : init_pid_(init_pid), scratch_path_(std::move(scratch)) {}

bool Watchdog::OpenProc() {
  if (proc_.IsOpen()) return true;
  const std::string root = "/proc/" + std::to_string(init_pid_) + "/root";
  auto proc = sys::Open(root + "/proc", O_RDONLY | O_DIRECTORY);
  if (!proc) return false;
  // Before pivot_root this is still the host's /proc, where process 1 is not our init.
  const auto first = ReadEntry(proc->Get(), "1/stat");
  if (!first || first->find("(plimsoll-init)") == std::string::npos) return false;
  if (!scratch_path_.empty()) {
    auto scratch = sys::Open(root + scratch_path_, O_PATH | O_DIRECTORY);
    if (!scratch) return false;
    scratch_ = *std::move(scratch);
  }
  proc_ = *std::move(proc);
  return true;
}

std::optional<Usage> Watchdog::Measure(bool exact_memory) {
  if (!OpenProc()) return std::nullopt;
  const auto names = sys::ListDirectory(proc_.Get(), "/proc");
  if (!names) return std::nullopt;
  Usage usage;
  std::uint64_t exact = 0;
  for (const std::string& name : *names) {
    if (!ParseUint(name)) continue;
    if (const auto stat = ReadEntry(proc_.Get(), name + "/stat")) AddStat(*stat, usage);
    if (!exact_memory) continue;
    if (const auto rollup = ReadEntry(proc_.Get(), name + "/smaps_rollup")) {
      exact += ProportionalBytes(*rollup);
    }
  }
  if (exact_memory) usage.memory_bytes = exact;
  usage.memory_bytes += FileSystemBytes(scratch_.Get());
  return usage;
}

}  // namespace plimsoll::run
