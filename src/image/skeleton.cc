#include "image/skeleton.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::size_t kMaxAccountsBytes = std::size_t{4} << 20U;
constexpr std::string_view kGuestId = "1000";

struct TextFile {
  const char* name;
  std::string_view text;
};
struct Link {
  const char* name;
  const char* target;
};

constexpr std::array<const char*, 6> kDevices = {"null",   "zero",    "full",
                                                 "random", "urandom", "tty"};
constexpr std::array<Link, 5> kLinks = {{{"fd", "/proc/self/fd"},
                                         {"stdin", "/proc/self/fd/0"},
                                         {"stdout", "/proc/self/fd/1"},
                                         {"stderr", "/proc/self/fd/2"},
                                         {"ptmx", "pts/ptmx"}}};
constexpr std::array<TextFile, 3> kEtcFiles = {
    {{"hosts", "127.0.0.1 localhost\n::1 localhost\n127.0.0.1 plimsoll\n"},
     {"hostname", "plimsoll\n"},
     {"resolv.conf", ""}}};
// The accounts of an image that has none at all, and the guest's own line.
constexpr TextFile kRootUser = {"passwd", "root:x:0:0:root:/root:/bin/sh\n"};
constexpr TextFile kGuestUser = {"passwd", "plimsoll:x:1000:1000:plimsoll:/work:/bin/sh\n"};
constexpr TextFile kRootGroup = {"group", "root:x:0:\n"};
constexpr TextFile kGuestGroup = {"group", "plimsoll:x:1000:\n"};

// A directory of the skeleton while things are added to it; Close() gives it its old time back.
struct OpenedDirectory {
  sys::UniqueFd fd;
  struct stat status = {};

  Result<void> Close() {
    const std::array<timespec, 2> times = {status.st_atim, status.st_mtim};
    if (::futimens(fd.Get(), times.data()) != 0) return sys::ErrnoError("set a directory's time");
    return {};
  }
};

Result<OpenedDirectory> OpenDirectory(int parent, const std::string& name, std::uint32_t mode) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  auto fd = sys::OpenAt(parent, name, kFlags);
  if (!fd) {
    PLIMSOLL_TRY(sys::RemoveTree(parent, name));
    if (::mkdirat(parent, name.c_str(), 0700) != 0) return sys::ErrnoError("mkdir " + Quote(name));
    fd = sys::OpenAt(parent, name, kFlags);
  }
  if (!fd) return std::move(fd).error();
  OpenedDirectory directory{.fd = *std::move(fd)};
  PLIMSOLL_TRY_ASSIGN(directory.status, sys::Stat(directory.fd.Get(), name));
  if (::fchmod(directory.fd.Get(), mode) != 0) return sys::ErrnoError("chmod " + Quote(name));
  return directory;
}

Result<void> WriteNew(int dir, const std::string& name, std::string_view text) {
  PLIMSOLL_TRY(sys::RemoveTree(dir, name));
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd,
                      sys::OpenAt(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  PLIMSOLL_TRY(sys::WriteAll(fd.Get(), text, name));
  if (::fchmod(fd.Get(), 0644) != 0) return sys::ErrnoError("chmod " + Quote(name));
  return {};
}

Result<void> Clear(int dir, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> names, sys::ListDirectory(dir, name));
  for (const std::string& entry : names)
    PLIMSOLL_TRY(sys::RemoveTree(dir, entry));
  return {};
}

Result<void> AddDevices(int tree) {
  PLIMSOLL_TRY_ASSIGN(OpenedDirectory dev, OpenDirectory(tree, "dev", 0755));
  PLIMSOLL_TRY(Clear(dev.fd.Get(), "dev"));
  PLIMSOLL_TRY(OpenDirectory(dev.fd.Get(), "pts", 0755));
  PLIMSOLL_TRY(OpenDirectory(dev.fd.Get(), "shm", 01777));
  for (const char* device : kDevices)
    PLIMSOLL_TRY(WriteNew(dev.fd.Get(), device, ""));
  for (const Link& link : kLinks) {
    if (::symlinkat(link.target, dev.fd.Get(), link.name) != 0) {
      return sys::ErrnoError(std::string("symlink ") + Quote(link.name));
    }
  }
  return dev.Close();
}

// The image's own file, read beneath its root; empty when there is none. A fifo must not block us
// and is no file of accounts.
Result<std::string> ReadAccounts(int tree, const std::string& path) {
  const auto fd =
      sys::OpenBeneath(tree, path, O_RDONLY | O_NONBLOCK, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
  if (!fd) return std::string();
  PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::Stat(fd->Get(), path));
  if (!S_ISREG(status.st_mode)) return std::string();
  return sys::ReadAll(fd->Get(), kMaxAccountsBytes, path);
}

// passwd(5) and group(5) both have the id in the third field.
bool HasGuestId(std::string_view accounts) {
  for (const std::string_view line : Split(accounts, '\n')) {
    const std::vector<std::string_view> fields = Split(line, ':');
    if (fields.size() > 2 && fields[2] == kGuestId) return true;
  }
  return false;
}

Result<void> AddAccount(int tree, int etc, const TextFile& root, const TextFile& guest) {
  const std::string name = guest.name;
  PLIMSOLL_TRY_ASSIGN(std::string accounts, ReadAccounts(tree, "etc/" + name));
  if (accounts.empty()) accounts = root.text;
  if (!HasGuestId(accounts)) {
    if (accounts.back() != '\n') accounts += '\n';
    accounts += guest.text;
  }
  return WriteNew(etc, name, accounts);
}

Result<void> AddEtc(int tree) {
  PLIMSOLL_TRY_ASSIGN(OpenedDirectory etc, OpenDirectory(tree, "etc", 0755));
  for (const TextFile& file : kEtcFiles)
    PLIMSOLL_TRY(WriteNew(etc.fd.Get(), file.name, file.text));
  PLIMSOLL_TRY(AddAccount(tree, etc.fd.Get(), kRootUser, kGuestUser));
  PLIMSOLL_TRY(AddAccount(tree, etc.fd.Get(), kRootGroup, kGuestGroup));
  return etc.Close();
}

}  // namespace

Result<void> AddSkeleton(int tree) {
  PLIMSOLL_TRY_ASSIGN(OpenedDirectory root, OpenDirectory(tree, ".", 0755));
  for (const char* name : {"proc", "run", "work"})
    PLIMSOLL_TRY(OpenDirectory(tree, name, 0755));
  PLIMSOLL_TRY(OpenDirectory(tree, "tmp", 01777));
  PLIMSOLL_TRY_ASSIGN(OpenedDirectory sys, OpenDirectory(tree, "sys", 0755));
  PLIMSOLL_TRY(Clear(sys.fd.Get(), "sys"));
  PLIMSOLL_TRY(AddDevices(tree));
  PLIMSOLL_TRY(AddEtc(tree));
  return root.Close();
}

}  // namespace plimsoll::image
