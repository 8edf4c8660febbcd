// What the guest sees: the scratch tmpfs, the root, /proc, /dev, its writable directories, volumes.

#include <linux/mount.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "plan/draft.h"

namespace plimsoll::plan {
namespace {

using init::Phase;
using init::StepKind;

constexpr std::uint64_t kQuiet = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr std::uint64_t kReadOnly = kQuiet | MOUNT_ATTR_RDONLY;
constexpr std::uint64_t kBytesPerInode = 4096;
constexpr std::uint64_t kFewestInodes = 1024;

// Paths of /proc that tell of the host, covered; and those that could change it, read-only. The
// lists are those that container engines agree on, and kallsyms.
constexpr std::array<std::string_view, 9> kMaskedFiles = {
    "/proc/interrupts", "/proc/kallsyms",      "/proc/kcore",
    "/proc/keys",       "/proc/latency_stats", "/proc/sched_debug",
    "/proc/timer_list", "/proc/timer_stats",   "/proc/kpagecount"};
constexpr std::array<std::string_view, 3> kMaskedDirectories = {"/proc/acpi", "/proc/asound",
                                                                "/proc/scsi"};
constexpr std::array<std::string_view, 5> kReadOnlyPaths = {"/proc/bus", "/proc/fs", "/proc/irq",
                                                            "/proc/sys", "/proc/sysrq-trigger"};

// Of namespaces(7), "The /proc/sys/user directory"; the host's usual limits are 128 and more.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kUserLimits = {
    {{"max_inotify_instances", "64"}, {"max_inotify_watches", "32768"}}};

constexpr std::array<std::string_view, 6> kDevices = {"null",   "zero",    "full",
                                                      "random", "urandom", "tty"};

// Our writable directories: where each lies in the scratch, and where the guest finds it.
struct ScratchDirectory {
  const char* name;
  const char* target;
  std::uint64_t mode;
};
constexpr std::array<ScratchDirectory, 4> kScratchDirectories = {{{"work", "/work", 0755},
                                                                  {"tmp", "/tmp", 01777},
                                                                  {"shm", "/dev/shm", 01777},
                                                                  {"run", "/run", 0755}}};

// Targets in steps are relative to the new root.
std::string Relative(std::string_view path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return std::string(path);
}

void Add(Draft& draft, StepKind kind, std::array<std::string, 3> text,
         std::array<std::uint64_t, 4> number = {}) {
  draft.writer.Add(
      {.phase = Phase::kInit, .kind = kind, .text = std::move(text), .number = number});
}

void MakeDirectory(Draft& draft, std::string path, std::uint64_t mode) {
  Add(draft, StepKind::kMakeDirectory, {std::move(path)}, {mode});
}

void WriteFile(Draft& draft, std::string path, std::string content) {
  draft.writer.Add({.phase = Phase::kInit,
                    .kind = StepKind::kWriteFile,
                    .text = {std::move(path)},
                    .blob = std::move(content),
                    .number = {0644}});
}

void Bind(Draft& draft, std::string_view target, std::string source, init::BindFrom from,
          std::uint64_t attributes, std::uint64_t flags = 0) {
  Add(draft, StepKind::kBind, {Relative(target), std::move(source)}, {attributes, from, flags});
}

// Where the guest sees the scratch: at one of our directories that no volume lies on.
std::string VisibleScratch(const Draft& draft) {
  for (const ScratchDirectory& directory : kScratchDirectories) {
    const bool is_covered =
        std::any_of(draft.volumes.begin(), draft.volumes.end(),
                    [&](const CheckedVolume& volume) { return volume.target == directory.target; });
    if (!is_covered) return directory.target;
  }
  return {};
}

// One tmpfs for everything that the guest may write, so that there is one budget, and for what is
// generated for this run.
void AddScratch(Draft& draft) {
  draft.plan.supervision.scratch_path = VisibleScratch(draft);
  const std::uint64_t bytes = draft.input.request.limits.tmpfs_bytes;
  const std::uint64_t inodes = std::max(kFewestInodes, bytes / kBytesPerInode);
  Add(draft, StepKind::kPrivateMounts, {});
  Add(draft, StepKind::kScratch,
      {"mode=0755,size=" + std::to_string(bytes) + ",nr_inodes=" + std::to_string(inodes),
       draft.plan.supervision.scratch_path});
  MakeDirectory(draft, "root", 0755);
  MakeDirectory(draft, "mask", 0555);
  for (const ScratchDirectory& directory : kScratchDirectories) {
    MakeDirectory(draft, directory.name, directory.mode);
  }
}

// Makes a mount point in the scratch, with the folders above it; the point itself is a file when
// the volume is one. Nothing is made that an earlier volume or file has made.
void MakePoint(Draft& draft, const std::string& base, std::string_view below, bool is_directory,
               std::vector<std::string>& made) {
  MakeFoldersAbove(draft, base, below, made);
  const std::string point = base + "/" + std::string(below);
  if (std::find(made.begin(), made.end(), point) != made.end()) return;
  made.push_back(point);
  if (is_directory) {
    MakeDirectory(draft, point, 0755);
  } else {
    WriteFile(draft, point, {});
  }
}

void AddRoot(Draft& draft) {
  const bool passed = draft.input.pass_mounts;  // Build made it the first descriptor
  Add(draft, StepKind::kRoot, {passed ? std::string() : draft.input.rootfs.tree_path},
      {kReadOnly, 0});
  if (!NeedsOverlay(draft)) return;
  MakeDirectory(draft, "upper", 0755);
  MakeDirectory(draft, "overlay", 0700);
  std::vector<std::string> made;
  for (const CheckedVolume& volume : draft.volumes) {
    if (!volume.needs_mount_point) continue;
    MakePoint(draft, "upper", Relative(volume.target), volume.is_directory, made);
  }
  Add(draft, StepKind::kOverlayRoot, {"upper", "overlay"},
      {draft.input.request.writable_root ? kQuiet : kReadOnly});
}

void AddProc(Draft& draft) {
  Add(draft, StepKind::kMountFilesystem, {"proc", "proc", "hidepid=invisible"},
      {kQuiet | MOUNT_ATTR_NOEXEC});
  // The guest counts as the user in the host's limits too, so it may not use up all of them.
  for (const auto& [name, most] : kUserLimits) {
    Add(draft, StepKind::kSetting, {"proc/sys/user/" + std::string(name), std::string(most)});
  }
  // Which of them there are depends on how the kernel was built.
  for (const std::string_view path : kMaskedFiles) {
    Bind(draft, path, "/dev/null", init::kFromHost, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID,
         init::kOptional);
  }
  for (const std::string_view path : kMaskedDirectories) {
    Bind(draft, path, "mask", init::kFromScratch, kReadOnly, init::kOptional);
  }
  for (const std::string_view path : kReadOnlyPaths) {
    Bind(draft, path, Relative(path), init::kFromRoot, kReadOnly | MOUNT_ATTR_NOEXEC,
         init::kOptional);
  }
}

// The placeholders of the nodes are in the image's tree, so /dev needs no file system of its own. A
// read-only mount does not stop writing to a device.
void AddDevices(Draft& draft) {
  for (const std::string_view name : kDevices) {
    const std::string path = "/dev/" + std::string(name);
    Bind(draft, path, path, init::kFromHost,
         MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  }
  Add(draft, StepKind::kMountFilesystem,
      {"dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"},
      {MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC});
}

void AddScratchDirectories(Draft& draft) {
  for (const ScratchDirectory& directory : kScratchDirectories) {
    Bind(draft, directory.target, directory.name, init::kFromScratch, kQuiet);
  }
}

// Accounts for a user whom the image does not know.
void AddAccounts(Draft& draft) {
  const std::array<std::pair<std::string, const std::string*>, 2> files = {
      {{"passwd", &draft.user.passwd}, {"group", &draft.user.group}}};
  for (const auto& [name, content] : files) {
    if (content->empty()) continue;
    WriteFile(draft, name, *content);
    Bind(draft, "/etc/" + name, name, init::kFromScratch, kReadOnly | MOUNT_ATTR_NOEXEC);
  }
}

// Mount points below our own writable directories are made in the scratch.
void MakePointInScratch(Draft& draft, const CheckedVolume& volume, std::vector<std::string>& made) {
  for (const ScratchDirectory& directory : kScratchDirectories) {
    const std::string prefix = std::string(directory.target) + "/";
    if (volume.inside_volume || !volume.target.starts_with(prefix)) continue;
    MakePoint(draft, directory.name, volume.target.substr(prefix.size()), volume.is_directory,
              made);
  }
}

void AddVolumes(Draft& draft, std::vector<std::string>& made) {
  for (CheckedVolume& volume : draft.volumes) {
    MakePointInScratch(draft, volume, made);
    draft.plan.run_later.insert(draft.plan.run_later.end(), volume.run_later.begin(),
                                volume.run_later.end());
    const std::uint64_t attributes = volume.writable ? kQuiet : kReadOnly;
    if (volume.mount.IsOpen()) {
      Add(draft, StepKind::kBind, {Relative(volume.target)},
          {attributes, init::kFromFd, init::kRecursive, draft.plan.passed.size()});
      draft.plan.passed.push_back(std::move(volume.mount));
    } else {
      Add(draft, StepKind::kBind, {Relative(volume.target), volume.source},
          {attributes, init::kFromHost, init::kRecursive, volume.inode});
    }
    for (const std::string& entry : volume.read_only) {
      const std::string path = volume.target + "/" + entry;
      Add(draft, StepKind::kBind, {Relative(path), Relative(path)},
          {kReadOnly, init::kFromRoot, init::kRecursive});
    }
  }
}

}  // namespace

void MakeFoldersAbove(Draft& draft, std::string parent, std::string_view below,
                      std::vector<std::string>& made) {
  const auto parts = Split(below, '/');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    parent += "/" + std::string(parts[i]);
    if (std::find(made.begin(), made.end(), parent) != made.end()) continue;
    made.push_back(parent);
    MakeDirectory(draft, parent, 0755);
  }
}

bool NeedsOverlay(const Draft& draft) {
  return draft.input.request.writable_root ||
         std::any_of(draft.volumes.begin(), draft.volumes.end(),
                     [](const CheckedVolume& volume) { return volume.needs_mount_point; });
}

bool IsInScratch(std::string_view path) {
  return std::any_of(kScratchDirectories.begin(), kScratchDirectories.end(),
                     [&](const ScratchDirectory& directory) {
                       const std::string_view target = directory.target;
                       return path == target ||
                              (path.starts_with(target) && path[target.size()] == '/');
                     });
}

void AddMounts(Draft& draft) {
  AddScratch(draft);
  AddRoot(draft);
  AddProc(draft);
  AddDevices(draft);
  AddScratchDirectories(draft);
  AddAccounts(draft);
  std::vector<std::string> made;
  AddFiles(draft, made);
  AddVolumes(draft, made);
}

}  // namespace plimsoll::plan
