// Volumes: bind mounts of the host that the user asked for, looked at before anything runs.

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/text.h"
#include "plan/draft.h"
#include "sys/file.h"
#include "sys/mount.h"

namespace plimsoll::plan {
namespace {

constexpr std::size_t kMostVolumes = 64;

// They run on the host later (hooks, tasks, direnv), so a guest that may write the folder around
// them may not write them.
constexpr std::array<std::string_view, 7> kRunLater = {".git",   ".envrc", ".vscode", ".idea",
                                                       ".husky", ".hg",    ".svn"};

// Where a volume would take one of our own mounts away.
constexpr std::array<std::string_view, 4> kReservedTargets = {"/", "/proc", "/dev", "/sys"};
constexpr std::array<std::string_view, 4> kReservedPrefixes = {"/proc/", "/sys/", "/dev/pts",
                                                               "/dev/fd"};

Error RequestError(std::string what, std::string hint = {}) {
  return Error{.kind = ErrorKind::kRequest, .what = std::move(what), .hint = std::move(hint)};
}

// The path without ".", "..", doubled and trailing slashes; nothing when it has "..".
std::optional<std::string> CleanTarget(std::string_view path) {
  std::string clean;
  for (const std::string_view part : Split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return std::nullopt;
    clean += "/" + std::string(part);
  }
  return clean.empty() ? "/" : clean;
}

Result<std::string> CheckTarget(const request::Volume& volume) {
  const std::string shown = "--volume destination " + Quote(volume.destination);
  const auto target = CleanTarget(volume.destination);
  if (!volume.destination.starts_with('/') || !target) {
    return RequestError(shown + " must be an absolute path without '..'");
  }
  const bool reserved =
      std::find(kReservedTargets.begin(), kReservedTargets.end(), *target) !=
          kReservedTargets.end() ||
      std::any_of(kReservedPrefixes.begin(), kReservedPrefixes.end(),
                  [&](std::string_view prefix) { return target->starts_with(prefix); });
  if (reserved) return RequestError(shown + " would replace a part of the sandbox itself");
  return *target;
}

Result<std::string> Canonical(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real == nullptr) {
    Error error = sys::ErrnoError("--volume source " + Quote(path));
    error.kind = ErrorKind::kRequest;
    if (errno == ENOENT) error.hint = "create it first; plimsoll makes nothing on the host";
    return error;
  }
  return std::string(real.get());
}

// Connecting to a socket works through a read-only mount too.
Result<void> RefuseSpecialFile(const Input& input, const std::string& source, mode_t mode) {
  if (S_ISDIR(mode) || S_ISREG(mode) || input.request.volume_sockets) return {};
  return Error{
      .kind = ErrorKind::kPermission,
      .what = "--volume source " + Quote(source) + " is a socket, a pipe or a device",
      .hint = "--volume-sockets allows it, and the guest can then talk to what is behind it"};
}

// Root gives its ids up, so what the guest would write belongs to an id that the user did not name.
Result<void> RefuseWritableForRoot(const Input& input, const CheckedVolume& volume) {
  if (!volume.writable || !input.pass_mounts || input.request.host_user) return {};
  return Error{.kind = ErrorKind::kPermission,
               .what = "--volume " + Quote(volume.source) + " is writable and the caller is root",
               .hint =
                   "name the owner of the folder with --host-user UID[:GID], or run plimsoll as "
                   "that user"};
}

// Whether the image has the mount point; a symbolic link on the way or at the end is refused.
Result<void> LookForMountPoint(const Input& input, CheckedVolume& volume) {
  if (IsInScratch(volume.target)) return {};
  const auto found = sys::OpenBeneath(input.rootfs.tree.Get(), volume.target.substr(1),
                                      O_PATH | O_NOFOLLOW, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
  if (!found && found.error().sys_errno == ENOENT) {
    volume.needs_mount_point = true;
    return {};
  }
  if (!found && found.error().sys_errno == ELOOP) {
    return RequestError("--volume destination " + Quote(volume.target) +
                            " leads through a symbolic link of the image",
                        "name the path that the link leads to");
  }
  if (!found) return Error(found.error()).In("--volume destination " + Quote(volume.target));
  PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::Stat(found->Get(), volume.target));
  if (S_ISLNK(status.st_mode)) {
    return RequestError(
        "--volume destination " + Quote(volume.target) + " is a symbolic link of the image",
        "name the path that the link leads to");
  }
  if (S_ISDIR(status.st_mode) != volume.is_directory) {
    return RequestError("--volume destination " + Quote(volume.target) + " is " +
                        (volume.is_directory ? "a file" : "a directory") + " in the image, and " +
                        Quote(volume.source) + " is " +
                        (volume.is_directory ? "a directory" : "a file"));
  }
  return {};
}

// What is there stays read-only. What is not there, or is a link, cannot be mounted over without
// making something on the host, so the end of the run looks at it again.
void GuardRunLater(const Input& input, CheckedVolume& volume) {
  if (!volume.writable || !volume.is_directory || input.request.volume_all) return;
  for (const std::string_view name : kRunLater) {
    struct stat status = {};
    std::string path = volume.source + "/" + std::string(name);
    const bool is_there = ::lstat(path.c_str(), &status) == 0;
    if (is_there && !S_ISLNK(status.st_mode)) {
      volume.read_only.emplace_back(name);
    } else {
      volume.run_later.push_back({.path = std::move(path), .changed = status.st_ctim});
    }
  }
}

Result<CheckedVolume> CheckVolume(const Input& input, const request::Volume& volume) {
  CheckedVolume checked;
  checked.writable = volume.writable;
  PLIMSOLL_TRY_ASSIGN(checked.target, CheckTarget(volume));
  PLIMSOLL_TRY_ASSIGN(checked.source, Canonical(volume.source));
  if (checked.source == "/proc" || checked.source.starts_with("/proc/")) {
    return RequestError("--volume source " + Quote(checked.source) +
                        " belongs to the host's /proc; the guest has its own");
  }
  PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::StatAt(AT_FDCWD, checked.source));
  checked.is_directory = S_ISDIR(status.st_mode);
  checked.inode = status.st_ino;
  PLIMSOLL_TRY(RefuseSpecialFile(input, checked.source, status.st_mode));
  PLIMSOLL_TRY(RefuseWritableForRoot(input, checked));
  PLIMSOLL_TRY(RefuseGuarded(input, checked.source));
  PLIMSOLL_TRY(LookForMountPoint(input, checked));
  GuardRunLater(input, checked);
  if (input.pass_mounts) {
    PLIMSOLL_TRY_ASSIGN(checked.mount, sys::CloneMount(checked.source, checked.is_directory));
  }
  return checked;
}

// The same target twice would hide one of the two in silence.
Result<void> RefuseSameTarget(const std::vector<CheckedVolume>& sorted) {
  const auto twin = std::adjacent_find(
      sorted.begin(), sorted.end(),
      [](const CheckedVolume& a, const CheckedVolume& b) { return a.target == b.target; });
  if (twin == sorted.end()) return {};
  return RequestError("--volume destination " + Quote(twin->target) + " is given twice, for " +
                      Quote(twin->source) + " and " + Quote((twin + 1)->source));
}

// A mount point that the image lacks is made in a layer of ours, never inside another volume, whose
// folder belongs to the host.
Result<void> RefusePointInVolume(std::vector<CheckedVolume>& sorted) {
  for (std::size_t inner = 0; inner < sorted.size(); ++inner) {
    for (std::size_t outer = 0; outer < inner; ++outer) {
      const CheckedVolume& around = sorted[outer];
      if (!sorted[inner].target.starts_with(around.target + "/")) continue;
      struct stat status = {};
      const std::string point = around.source + sorted[inner].target.substr(around.target.size());
      if (::lstat(point.c_str(), &status) != 0 || S_ISLNK(status.st_mode) ||
          S_ISDIR(status.st_mode) != sorted[inner].is_directory) {
        return RequestError("--volume destination " + Quote(sorted[inner].target) +
                                " lies inside " + Quote(around.target) + ", and " + Quote(point) +
                                " is no mount point for it on the host",
                            "create it on the host, or choose another destination");
      }
      sorted[inner].needs_mount_point = false;
      sorted[inner].inside_volume = true;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<CheckedVolume>> CheckVolumes(const Input& input) {
  if (input.request.volumes.size() > kMostVolumes) {
    return RequestError("more than " + std::to_string(kMostVolumes) + " volumes");
  }
  std::vector<CheckedVolume> volumes;
  for (const request::Volume& volume : input.request.volumes) {
    PLIMSOLL_TRY_ASSIGN(CheckedVolume checked, CheckVolume(input, volume));
    volumes.push_back(std::move(checked));
  }
  // Outer mounts before inner ones, whatever the order of the flags.
  std::sort(volumes.begin(), volumes.end(),
            [](const CheckedVolume& a, const CheckedVolume& b) { return a.target < b.target; });
  PLIMSOLL_TRY(RefuseSameTarget(volumes));
  PLIMSOLL_TRY(RefusePointInVolume(volumes));
  return volumes;
}

}  // namespace plimsoll::plan
