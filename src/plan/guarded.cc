// Whether a volume would open plimsoll's own files: store, configuration, keys.
//
// Judged by what a file is and by where it lies in its file system, not by how it is called: a path
// can be spelled, linked and bind-mounted in many ways, and a volume brings the mounts beneath it
// along.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/text.h"
#include "plan/draft.h"
#include "sys/file.h"

namespace plimsoll::plan {
namespace {

constexpr std::size_t kMaxMountinfo = std::size_t{16} << 20U;

// One line of proc_pid_mountinfo(5).
struct Mount {
  std::uint64_t id = 0;
  std::string device;
  std::string root;   // what of its file system is mounted
  std::string point;  // where
};

// A file by its file system and its path in there, the same through every mount.
struct Place {
  std::string device;
  std::string path;
};

// "\040" for a blank, and so on.
std::string Unescape(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 3 >= text.size()) {
      out += text[at];
      continue;
    }
    const auto digit = [&](std::size_t i) {
      return static_cast<unsigned>(text[at + i] - '0') & 7U;
    };
    out += static_cast<char>(digit(1) << 6U | digit(2) << 3U | digit(3));
    at += 3;
  }
  return out;
}

Result<std::vector<Mount>> ReadMounts() {
  PLIMSOLL_TRY_ASSIGN(const std::string text, sys::ReadFile("/proc/self/mountinfo", kMaxMountinfo));
  std::vector<Mount> mounts;
  for (const std::string_view line : Split(text, '\n')) {
    const auto fields = Split(line, ' ');
    if (fields.size() < 5) continue;
    mounts.push_back({.id = ParseUint(fields[0]).value_or(0),
                      .device = std::string(fields[2]),
                      .root = Unescape(fields[3]),
                      .point = Unescape(fields[4])});
  }
  return mounts;
}

bool IsWithin(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// The path without links; parts that are not there yet are kept as they are.
std::string Canonical(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real != nullptr) return real.get();
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || path == "/") return "/";
  const std::string parent = Canonical(slash == 0 ? "/" : path.substr(0, slash));
  return (parent == "/" ? "" : parent) + path.substr(slash);
}

// The mount of the nearest folder of `path` that is there; 0 when it cannot be told.
std::uint64_t MountIdOf(std::string path) {
  for (;;) {
    struct statx status = {};
    if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &status) == 0) {
      return status.stx_mnt_id;
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || path == "/") return 0;
    path.resize(std::max<std::size_t>(slash, 1));
  }
}

// `path` is canonical. In a chroot the mount may not be listed; then it stands for the device.
Place PlaceOf(const std::string& path, const std::vector<Mount>& mounts) {
  const std::uint64_t id = MountIdOf(path);
  const auto mount = std::find_if(mounts.begin(), mounts.end(),
                                  [&](const Mount& candidate) { return candidate.id == id; });
  if (mount == mounts.end() || !IsWithin(path, mount->point)) {
    return {.device = "mount " + std::to_string(id), .path = path};
  }
  const std::string below = mount->point == "/" ? path : path.substr(mount->point.size());
  std::string place = (mount->root == "/" ? "" : mount->root) + (below == "/" ? "" : below);
  return {.device = mount->device, .path = place.empty() ? "/" : place};
}

bool IsSameFile(const std::string& one, const std::string& other) {
  struct stat first = {};
  struct stat second = {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

Error GuardedError(const std::string& source, std::string_view relation,
                   const std::string& guarded) {
  return Error{.kind = ErrorKind::kPermission,
               .what = "--volume source " + Quote(source) + " " + std::string(relation) + " " +
                       Quote(guarded) + ", where plimsoll keeps its own files",
               .hint = "mount a folder beside it"};
}

}  // namespace

Result<void> RefuseGuarded(const Input& input, const std::string& source) {
  PLIMSOLL_TRY_ASSIGN(const std::vector<Mount> mounts, ReadMounts());
  std::vector<Place> opened = {PlaceOf(source, mounts)};  // by the volume and the mounts in it
  for (const Mount& mount : mounts) {
    if (mount.point == source || !IsWithin(mount.point, source)) continue;
    opened.push_back({.device = mount.device, .path = mount.root});
  }
  std::vector<std::string> guarded_paths = input.guarded_paths;
  guarded_paths.push_back(input.store);
  for (const std::string& guarded : guarded_paths) {
    if (IsSameFile(source, guarded)) return GuardedError(source, "contains", guarded);
    const Place place = PlaceOf(Canonical(guarded), mounts);
    for (const Place& open : opened) {
      if (open.device != place.device) continue;
      if (IsWithin(place.path, open.path)) return GuardedError(source, "contains", guarded);
      if (IsWithin(open.path, place.path)) return GuardedError(source, "lies inside", guarded);
    }
  }
  return {};
}

}  // namespace plimsoll::plan
