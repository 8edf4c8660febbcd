#include "image/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::array<const char*, 6> kDirectories = {"blobs", "blobs/sha256", "layers",
                                                     "trees", "images",       "archives"};

Result<void> Flock(int fd, int operation, std::string_view name) {
  while (::flock(fd, operation) != 0) {
    if (errno != EINTR) return sys::ErrnoError("flock " + Quote(name));
  }
  return {};
}

// False when `name` in `dir` is no longer what `fd` is: renamed, or removed and made anew.
bool IsStill(int dir, const std::string& name, int fd) {
  struct stat here = {};
  struct stat there = {};
  return ::fstat(fd, &here) == 0 &&
         ::fstatat(dir, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

Result<void> RemoveContent(int dir, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> entries, sys::ListDirectory(dir, name));
  for (const std::string& entry : entries)
    PLIMSOLL_TRY(sys::RemoveTree(dir, entry));
  return {};
}

Result<void> MakeDirectory(int root, const char* name) {
  if (::mkdirat(root, name, 0700) == 0 || errno == EEXIST) return {};
  return sys::ErrnoError(std::string("mkdir ") + Quote(name));
}

// Under a name that the next run takes over when this one is killed, so the caller holds the lock.
Result<void> WriteVersion(int root) {
  constexpr const char* kUnfinished = "version.new";
  PLIMSOLL_TRY_ASSIGN(
      const sys::UniqueFd fd,
      sys::OpenAt(root, kUnfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  PLIMSOLL_TRY(sys::WriteAll(fd.Get(), std::to_string(kVersion) + "\n", kUnfinished));
  if (::fsync(fd.Get()) != 0) return sys::ErrnoError(std::string("fsync ") + Quote(kUnfinished));
  if (::renameat(root, kUnfinished, root, "version") != 0) {
    return sys::ErrnoError("rename " + Quote(kUnfinished) + " to 'version'");
  }
  if (::fsync(root) != 0) return sys::ErrnoError("fsync the image store");
  return {};
}

// A new store gets its version last: a store without one is one that is being made.
Result<void> Complete(int root) {
  for (const char* name : kDirectories)
    PLIMSOLL_TRY(MakeDirectory(root, name));
  PLIMSOLL_TRY(MakeDirectory(root, "tmp"));
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd lock,
                      sys::OpenAt(root, "lock", O_RDONLY | O_CREAT, 0600));
  PLIMSOLL_TRY(Flock(lock.Get(), LOCK_EX, "lock"));
  if (::faccessat(root, "version", F_OK, AT_SYMLINK_NOFOLLOW) == 0) return {};
  return WriteVersion(root);
}

// The folder of a store, made and completed when it is not there.
Result<sys::UniqueFd> OpenComplete(const std::string& path) {
  PLIMSOLL_TRY(sys::MakeDirectories(path, 0700));
  PLIMSOLL_TRY_ASSIGN(sys::UniqueFd root, sys::Open(path, O_RDONLY | O_DIRECTORY));
  const auto version = sys::OpenAt(root.Get(), "version", O_RDONLY | O_NOFOLLOW);
  if (version) {
    PLIMSOLL_TRY_ASSIGN(const std::string text, sys::ReadAll(version->Get(), 64, "version"));
    PLIMSOLL_TRY(CheckStoreVersion(text));
  } else if (version.error().sys_errno == ENOENT) {
    PLIMSOLL_TRY(Complete(root.Get()));
  } else {
    return version.error();
  }
  return root;
}

}  // namespace

Result<void> CheckStoreVersion(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const std::optional<std::uint64_t> version = ParseUint(text);
  if (version && *version >= 1 && *version <= kVersion) return {};
  if (!version || *version == 0) {
    return Error{.kind = ErrorKind::kEnvironment,
                 .what = "the image store's version file has no version: " + Quote(text, 64)};
  }
  return Error{.kind = ErrorKind::kUnsupported,
               .what = "the image store has format " + std::to_string(*version) +
                       "; this plimsoll reads formats up to " + std::to_string(kVersion),
               .hint = "use the newer plimsoll that made it, or another store (--store)"};
}

Result<Store> Store::Open(const std::string& path) {
  if (path.empty()) {
    return Error{.kind = ErrorKind::kRequest, .what = "the image store has no path"};
  }
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  if (error) return sys::ErrnoError("getcwd", error.value());
  auto root = OpenComplete(absolute);
  if (root) return Store(absolute, *std::move(root));
  Error failure = std::move(root).error();
  if (failure.hint.empty()) failure.hint = "--store or PLIMSOLL_STORE names another folder";
  return std::move(failure).In("image store " + Quote(absolute));
}

Result<sys::UniqueFd> Store::LockShared() const {
  PLIMSOLL_TRY_ASSIGN(sys::UniqueFd fd, sys::OpenAt(Root(), "lock", O_RDONLY | O_NOFOLLOW));
  PLIMSOLL_TRY(Flock(fd.Get(), LOCK_SH, "lock"));
  return fd;
}

Result<sys::UniqueFd> Store::LockExclusive() const {
  PLIMSOLL_TRY_ASSIGN(sys::UniqueFd fd, sys::OpenAt(Root(), "lock", O_RDONLY | O_NOFOLLOW));
  PLIMSOLL_TRY(Flock(fd.Get(), LOCK_EX, "lock"));
  return fd;
}

Result<void> Store::SweepTemporary() const {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd temporary,
                      sys::OpenAt(Root(), "tmp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> names,
                      sys::ListDirectory(temporary.Get(), "tmp"));
  for (const std::string& name : names) {
    const auto fd = sys::OpenAt(temporary.Get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    // Gone, or locked: its owner lives and clears it itself.
    if (!fd || ::flock(fd->Get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (IsStill(temporary.Get(), name, fd->Get())) {
      PLIMSOLL_TRY(sys::RemoveTree(temporary.Get(), name));
    }
  }
  return {};
}

bool HasTemporary(const std::string& path) {
  struct stat status = {};
  return ::stat((path + "/tmp").c_str(), &status) == 0 && status.st_nlink != 2;
}

std::string BlobPath(const oci::Digest& digest) {
  return "blobs/sha256/" + digest.Hex();
}
std::string LayerPath(const oci::Digest& diff_id) {
  return "layers/" + diff_id.Hex();
}
std::string TreePath(const oci::Digest& chain_id) {
  return "trees/" + chain_id.Hex();
}

Result<WorkDirectory> WorkDirectory::Claim(const Store& store, const std::string& name) {
  PLIMSOLL_TRY_ASSIGN(sys::UniqueFd temporary,
                      sys::OpenAt(store.Root(), "tmp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  for (;;) {
    if (::mkdirat(temporary.Get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
      return sys::ErrnoError("mkdir " + Quote("tmp/" + name));
    }
    auto fd = sys::OpenAt(temporary.Get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!fd && fd.error().sys_errno == ENOENT) continue;  // its owner finished in between
    if (!fd) return std::move(fd).error();
    PLIMSOLL_TRY(Flock(fd->Get(), LOCK_EX, name));
    if (!IsStill(temporary.Get(), name, fd->Get())) continue;
    PLIMSOLL_TRY(RemoveContent(fd->Get(), name));  // of an owner that was killed
    return WorkDirectory(std::move(temporary), name, *std::move(fd));
  }
}

WorkDirectory::~WorkDirectory() {
  if (!fd_.IsOpen() || !IsStill(temporary_.Get(), name_, fd_.Get())) return;  // moved from, renamed
  (void)sys::RemoveTree(temporary_.Get(), name_);  // what stays is swept by the next run
}

}  // namespace plimsoll::image
