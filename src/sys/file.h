// Files and directories: one system call or one retry loop a function, with its values in the
// error.
//
// Every error has kind kHost and the errno, unless a function says otherwise. Descriptors are born
// close-on-exec.
#pragma once

#include <linux/openat2.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sys/unique_fd.h"

namespace plimsoll::sys {

// An error of kind kHost from the current errno: "`call`: text (NAME)".
Error ErrnoError(std::string call);
Error ErrnoError(std::string call, int number);

// openat(2), relative to the directory `dir` (AT_FDCWD: the current one); O_CLOEXEC is added.
Result<UniqueFd> OpenAt(int dir, const std::string& path, int flags, std::uint32_t mode = 0);
Result<UniqueFd> Open(const std::string& path, int flags, std::uint32_t mode = 0);

// openat2(2) with `resolve` (RESOLVE_BENEATH, RESOLVE_IN_ROOT, RESOLVE_NO_SYMLINKS, ...): the
// kernel's own refusal of every way out of `root`. `mode` is used only with O_CREAT.
Result<UniqueFd> OpenBeneath(int root, const std::string& path, int flags, std::uint64_t resolve,
                             std::uint32_t mode = 0);

// The whole file, refused above `max_bytes` (kCapacity).
Result<std::string> ReadAll(int fd, std::size_t max_bytes, std::string_view name);
Result<std::string> ReadFile(const std::string& path, std::size_t max_bytes);

// All of `bytes`, with retries on short writes and EINTR, and waiting for a reader when `fd` is in
// non-blocking mode.
Result<void> WriteAll(int fd, std::string_view bytes, std::string_view name);

// Writes beside `path`, syncs, renames over it and syncs the directory: a reader sees the old file
// or the new one, whole. `path` is relative to `dir`.
Result<void> ReplaceFile(int dir, const std::string& path, std::string_view bytes,
                         std::uint32_t mode);

// mkdir -p, each new directory with `mode`.
Result<void> MakeDirectories(const std::string& path, std::uint32_t mode);

// fstat(2) and fstatat(2) without following a link at the end.
Result<struct stat> Stat(int fd, std::string_view name);
Result<struct stat> StatAt(int dir, const std::string& path);

// The names in the directory, without "." and "..", sorted by bytes.
Result<std::vector<std::string>> ListDirectory(int dir, std::string_view name);

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;  // itself, not as a link to one
};
// The same with what each entry is, in no order.
Result<std::vector<DirectoryEntry>> ListEntries(int dir, std::string_view name);

// Removes the entry `path` of `dir` and everything beneath it, never following a link and never
// leaving the file system of `dir`; a missing entry is success. Directories that deny their owner
// are opened up first.
Result<void> RemoveTree(int dir, const std::string& path);

// memfd_create(2) with `bytes` in it, sealed against every change. `executable` asks for
// MFD_EXEC where the kernel knows it.
Result<UniqueFd> SealedMemfd(const char* name, std::string_view bytes, bool executable);

// The same where memfds may not be executed (vm.memfd_noexec=2): a file without a name in
// `directory`, readable and executable by everyone, writable by nobody.
Result<UniqueFd> UnnamedProgram(const std::string& directory, std::string_view bytes);

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};
// pipe2(2) with O_CLOEXEC.
Result<Pipe> MakePipe();

// Two connected sockets for messages (AF_UNIX, SOCK_SEQPACKET), closed on exec.
struct SocketPair {
  UniqueFd ours;
  UniqueFd theirs;
};
Result<SocketPair> MakeSocketPair();

// Opens /dev/null in the place of each of 0, 1 and 2 that is closed, so that no descriptor opened
// later is taken for a standard stream.
Result<void> FillStandardStreams();

}  // namespace plimsoll::sys
