// Whom the guest is: numbers from the request or the image, and an account for a number without
// one.

#include <fcntl.h>
#include <linux/openat2.h>

#include <optional>

#include "base/text.h"
#include "plan/draft.h"
#include "sys/file.h"

namespace plimsoll::plan {
namespace {

constexpr std::size_t kMaxAccountsFile = std::size_t{1} << 20U;
constexpr std::uint32_t kDefaultId = 1000;
constexpr std::uint64_t kMaxId = UINT32_MAX - 1;  // 2^32-1 means "no change" to the kernel

// One line of passwd(5) or group(5): NAME:PASSWORD:NUMBER[:GID:...].
struct Account {
  std::string_view name;
  std::uint32_t id;
  std::optional<std::uint32_t> group;
};

std::optional<Account> ParseAccount(std::string_view line) {
  const auto fields = Split(line, ':');
  if (fields.size() < 3) return std::nullopt;
  const auto id = ParseUint(fields[2], kMaxId);
  if (!id) return std::nullopt;
  Account account = {.name = fields[0], .id = static_cast<std::uint32_t>(*id), .group = {}};
  if (fields.size() > 3) {
    if (const auto group = ParseUint(fields[3], kMaxId)) {
      account.group = static_cast<std::uint32_t>(*group);
    }
  }
  return account;
}

// The first account that `wanted` accepts; lines that are none are passed over, as libc does.
template <typename Predicate>
std::optional<Account> FindAccount(std::string_view file, Predicate wanted) {
  for (const std::string_view line : Split(file, '\n')) {
    if (const auto account = ParseAccount(line); account && wanted(*account)) return account;
  }
  return std::nullopt;
}

std::optional<Account> FindId(std::string_view file, std::uint32_t id) {
  return FindAccount(file, [&](const Account& account) { return account.id == id; });
}

// An account by name or number of `word`; a number needs no entry.
Result<Account> Resolve(std::string_view word, std::string_view file, std::string_view what) {
  if (const auto id = ParseUint(word, kMaxId)) {
    const auto number = static_cast<std::uint32_t>(*id);
    return FindId(file, number).value_or(Account{.name = {}, .id = number, .group = {}});
  }
  const auto account =
      FindAccount(file, [&](const Account& candidate) { return candidate.name == word; });
  if (account && !word.empty()) return *account;
  return Error{.kind = ErrorKind::kRequest,
               .what = "--user: the image has no " + std::string(what) + " " + Quote(word),
               .hint = "give a number, or a name from the image's /etc/" +
                       std::string(what == "user" ? "passwd" : "group")};
}

Result<std::string> ReadAccounts(const Input& input, const std::string& path) {
  // The skeleton makes both files, as regular ones.
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd,
                      sys::OpenBeneath(input.rootfs.tree.Get(), path, O_RDONLY | O_NOFOLLOW,
                                       RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS));
  return sys::ReadAll(fd.Get(), kMaxAccountsFile, path);
}

std::string WithLine(std::string file, const std::string& line) {
  if (!file.empty() && !file.ends_with('\n')) file += '\n';
  return file + line;
}

}  // namespace

Result<GuestUser> ResolveUser(const Input& input) {
  request::User wanted = input.request.user;
  if (wanted.user.empty()) {
    const auto parts = Split(input.rootfs.config.user, ':');
    wanted.user = parts[0];
    if (wanted.group.empty() && parts.size() > 1) wanted.group = parts[1];
  }
  // The skeleton gives the default user its account, so the common case reads no file.
  if (wanted.user.empty() && wanted.group.empty()) return GuestUser{};
  if (wanted.user.empty()) wanted.user = std::to_string(kDefaultId);

  PLIMSOLL_TRY_ASSIGN(std::string passwd, ReadAccounts(input, "etc/passwd"));
  PLIMSOLL_TRY_ASSIGN(std::string group, ReadAccounts(input, "etc/group"));
  PLIMSOLL_TRY_ASSIGN(const Account user, Resolve(wanted.user, passwd, "user"));
  GuestUser guest = {
      .uid = user.id, .gid = user.group.value_or(user.id), .passwd = {}, .group = {}};
  if (!wanted.group.empty()) {
    PLIMSOLL_TRY_ASSIGN(const Account named, Resolve(wanted.group, group, "group"));
    guest.gid = named.id;
  }
  const std::string uid = std::to_string(guest.uid);
  const std::string gid = std::to_string(guest.gid);
  if (!FindId(passwd, guest.uid)) {
    guest.passwd = WithLine(std::move(passwd),
                            "guest" + uid + ":x:" + uid + ":" + gid + ":plimsoll:/work:/bin/sh\n");
  }
  if (!FindId(group, guest.gid)) {
    guest.group = WithLine(std::move(group), "guest" + gid + ":x:" + gid + ":\n");
  }
  return guest;
}

}  // namespace plimsoll::plan
