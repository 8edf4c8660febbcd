#include "sys/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/text.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace plimsoll::sys {
namespace {

constexpr std::size_t kReadBlock = std::size_t{64} << 10U;

// A name beside `path` that no other writer of this machine uses at the same time.
std::string TemporaryName(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
}

Result<void> SyncAndClose(UniqueFd fd, const std::string& name) {
  if (::fsync(fd.Get()) != 0) return ErrnoError("fsync " + Quote(name));
  return {};
}

}  // namespace

Error ErrnoError(std::string call) {
  return ErrnoError(std::move(call), errno);
}

Error ErrnoError(std::string call, int number) {
  return Error{.kind = ErrorKind::kHost, .what = std::move(call), .sys_errno = number};
}

Result<UniqueFd> OpenAt(int dir, const std::string& path, int flags, std::uint32_t mode) {
  for (;;) {
    UniqueFd fd(::openat(dir, path.c_str(), flags | O_CLOEXEC, mode));
    if (fd.IsOpen()) return fd;
    if (errno != EINTR) return ErrnoError("open " + Quote(path));
  }
}

Result<UniqueFd> Open(const std::string& path, int flags, std::uint32_t mode) {
  return OpenAt(AT_FDCWD, path, flags, mode);
}

Result<UniqueFd> OpenBeneath(int root, const std::string& path, int flags, std::uint64_t resolve,
                             std::uint32_t mode) {
  struct open_how how = {};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = resolve;
  for (;;) {
    UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
    if (fd.IsOpen()) return fd;
    // EAGAIN: a rename elsewhere in the system raced with the walk (openat2(2)).
    if (errno != EINTR && errno != EAGAIN) return ErrnoError("openat2 " + Quote(path));
  }
}

Result<std::string> ReadAll(int fd, std::size_t max_bytes, std::string_view name) {
  std::string bytes;
  struct stat status = {};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    bytes.reserve(std::min(static_cast<std::size_t>(status.st_size) + 1, max_bytes + 1));
  }
  for (;;) {
    const std::size_t old = bytes.size();
    const std::size_t spare = bytes.capacity() - old;
    const std::size_t block = std::max(spare, std::min(kReadBlock, old + 512));
    bytes.resize(old + block);
    const ssize_t count = ::read(fd, bytes.data() + old, block);
    bytes.resize(old + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return bytes;
    if (count < 0 && errno != EINTR) return ErrnoError("read " + Quote(name));
    if (bytes.size() > max_bytes) {
      return Error{.kind = ErrorKind::kCapacity,
                   .what = Quote(name) + " is larger than " + std::to_string(max_bytes) + " bytes"};
    }
  }
}

Result<std::string> ReadFile(const std::string& path, std::size_t max_bytes) {
  PLIMSOLL_TRY_ASSIGN(const UniqueFd fd, Open(path, O_RDONLY));
  return ReadAll(fd.Get(), max_bytes, path);
}

Result<void> WriteAll(int fd, std::string_view bytes, std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EAGAIN) {
      struct pollfd writable = {.fd = fd, .events = POLLOUT, .revents = 0};
      (void)::poll(&writable, 1, -1);  // another try tells more than its answer
    } else if (count < 0 && errno != EINTR) {
      return ErrnoError("write " + Quote(name));
    }
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> ReplaceFile(int dir, const std::string& path, std::string_view bytes,
                         std::uint32_t mode) {
  const std::string temporary = TemporaryName(path);
  PLIMSOLL_TRY_ASSIGN(UniqueFd fd,
                      OpenAt(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
  Result<void> written = WriteAll(fd.Get(), bytes, temporary);
  if (written) written = SyncAndClose(std::move(fd), temporary);
  if (written && ::renameat(dir, temporary.c_str(), dir, path.c_str()) != 0) {
    written = ErrnoError("rename " + Quote(temporary) + " to " + Quote(path));
  }
  if (!written) {
    (void)::unlinkat(dir, temporary.c_str(), 0);  // best effort: the first error is the one to tell
    return written;
  }
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  PLIMSOLL_TRY_ASSIGN(UniqueFd parent_fd, OpenAt(dir, parent, O_RDONLY | O_DIRECTORY));
  return SyncAndClose(std::move(parent_fd), parent);
}

Result<void> MakeDirectories(const std::string& path, std::uint32_t mode) {
  for (std::size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST) {
      // A parent that exists but may not be written answers EACCES or EROFS before EEXIST.
      struct stat status = {};
      const int number = errno;
      if (::stat(part.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
      return ErrnoError("mkdir " + Quote(part), number);
    }
  }
  return {};
}

Result<struct stat> Stat(int fd, std::string_view name) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return ErrnoError("stat " + Quote(name));
  return status;
}

Result<struct stat> StatAt(int dir, const std::string& path) {
  struct stat status = {};
  if (::fstatat(dir, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return ErrnoError("stat " + Quote(path));
  }
  return status;
}

Result<std::vector<DirectoryEntry>> ListEntries(int dir, std::string_view name) {
  const int copy = ::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return ErrnoError("open directory " + Quote(name));
  const auto close_directory = [](DIR* stream) { (void)::closedir(stream); };
  const std::unique_ptr<DIR, decltype(close_directory)> stream(::fdopendir(copy), close_directory);
  if (stream == nullptr) {
    Error error = ErrnoError("open directory " + Quote(name));
    (void)::close(copy);
    return error;
  }
  std::vector<DirectoryEntry> entries;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view entry_name = entry->d_name;
    if (entry_name == "." || entry_name == "..") continue;
    bool is_directory = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN) {  // not every file system fills it in
      PLIMSOLL_TRY_ASSIGN(const struct stat status, StatAt(dir, entry->d_name));
      is_directory = S_ISDIR(status.st_mode);
    }
    entries.push_back({.name = std::string(entry_name), .is_directory = is_directory});
    errno = 0;
  }
  if (errno != 0) return ErrnoError("read directory " + Quote(name));
  return entries;
}

Result<std::vector<std::string>> ListDirectory(int dir, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(std::vector<DirectoryEntry> entries, ListEntries(dir, name));
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (DirectoryEntry& entry : entries)
    names.push_back(std::move(entry.name));
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

// A directory to be emptied: one that denies its owner is opened up first.
Result<UniqueFd> OpenToEmpty(int dir, const std::string& path) {
  auto fd = OpenAt(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!fd && fd.error().sys_errno == EACCES) {
    if (::fchmodat(dir, path.c_str(), 0700, 0) != 0) return std::move(fd).error();
    fd = OpenAt(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  }
  if (!fd) return fd;
  // A directory without w or x keeps its entries.
  if (::fchmod(fd->Get(), 0700) != 0) return ErrnoError("chmod " + Quote(path));
  return fd;
}

// Removes what is no directory; true when it is one.
Result<bool> IsDirectoryOrGone(int dir, const std::string& name) {
  if (::unlinkat(dir, name.c_str(), 0) == 0 || errno == ENOENT) return false;
  if (errno == EISDIR || errno == EPERM) return true;
  return ErrnoError("unlink " + Quote(name));
}

// Moves the directory `name` of `from` up into `top`, under a name that nothing there has yet.
Result<void> MoveUp(int from, const std::string& name, int top, std::uint64_t& number) {
  // The kernel writes its "..", so it has to be writable itself.
  if (::fchmodat(from, name.c_str(), 0700, 0) != 0) return ErrnoError("chmod " + Quote(name));
  for (;;) {
    const std::string unused = ".removed-" + std::to_string(number++);
    if (::renameat2(from, name.c_str(), top, unused.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno != EEXIST) return ErrnoError("rename " + Quote(name));
  }
}

}  // namespace

// However deep the tree is, two directories are open at a time: those that lie deeper are moved up.
Result<void> RemoveTree(int dir, const std::string& path) {
  PLIMSOLL_TRY_ASSIGN(const bool is_directory, IsDirectoryOrGone(dir, path));
  if (!is_directory) return {};
  PLIMSOLL_TRY_ASSIGN(const UniqueFd top, OpenToEmpty(dir, path));
  std::uint64_t number = 0;
  for (;;) {
    PLIMSOLL_TRY_ASSIGN(const std::vector<DirectoryEntry> entries, ListEntries(top.Get(), path));
    if (entries.empty()) break;
    for (const DirectoryEntry& entry : entries) {
      PLIMSOLL_TRY_ASSIGN(const bool has_entries, IsDirectoryOrGone(top.Get(), entry.name));
      if (!has_entries) continue;
      PLIMSOLL_TRY_ASSIGN(const UniqueFd below, OpenToEmpty(top.Get(), entry.name));
      PLIMSOLL_TRY_ASSIGN(const auto deeper, ListEntries(below.Get(), entry.name));
      for (const DirectoryEntry& item : deeper) {
        PLIMSOLL_TRY_ASSIGN(const bool is_deep, IsDirectoryOrGone(below.Get(), item.name));
        if (is_deep) PLIMSOLL_TRY(MoveUp(below.Get(), item.name, top.Get(), number));
      }
      if (::unlinkat(top.Get(), entry.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
        return ErrnoError("rmdir " + Quote(entry.name));
      }
    }
  }
  if (::unlinkat(dir, path.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return ErrnoError("rmdir " + Quote(path));
  }
  return {};
}

Result<UniqueFd> SealedMemfd(const char* name, std::string_view bytes, bool executable) {
  const unsigned base = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  UniqueFd fd(::memfd_create(name, base | (executable ? MFD_EXEC : MFD_NOEXEC_SEAL)));
  // Kernels before 6.3 know neither flag and answer EINVAL; there every memfd is executable.
  if (!fd.IsOpen() && errno == EINVAL) fd.Reset(::memfd_create(name, base));
  if (!fd.IsOpen()) return ErrnoError(std::string("memfd_create ") + Quote(name));
  PLIMSOLL_TRY(WriteAll(fd.Get(), bytes, name));
  if (::fcntl(fd.Get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) !=
      0) {
    return ErrnoError(std::string("seal memfd ") + Quote(name));
  }
  return fd;
}

Result<UniqueFd> UnnamedProgram(const std::string& directory, std::string_view bytes) {
  PLIMSOLL_TRY_ASSIGN(const UniqueFd writer, Open(directory, O_RDWR | O_TMPFILE, 0500));
  PLIMSOLL_TRY(WriteAll(writer.Get(), bytes, directory));
  if (::fchmod(writer.Get(), 0555) != 0)
    return ErrnoError("chmod of a file in " + Quote(directory));
  // A file that is open for writing cannot be executed; this opens it anew, and the writer closes.
  return Open("/proc/self/fd/" + std::to_string(writer.Get()), O_RDONLY);
}

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("pipe2");
  return Pipe{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
}

Result<SocketPair> MakeSocketPair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return ErrnoError("socketpair");
  }
  return SocketPair{.ours = UniqueFd(ends[0]), .theirs = UniqueFd(ends[1])};
}

Result<void> FillStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest number that is free, which is this one. It stays open for the whole program.
    if (::open("/dev/null", O_RDWR) != fd) return ErrnoError("open '/dev/null'");
  }
  return {};
}

}  // namespace plimsoll::sys
