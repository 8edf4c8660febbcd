#include "record/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "sys/file.h"

namespace plimsoll::record {
namespace {

constexpr std::size_t kMaxKeyFile = 4096;
constexpr std::string_view kPrivateSuffix = ".key";

Error NoKey(const std::string& path, std::string_view kind) {
  return Error{.kind = ErrorKind::kRequest,
               .what = Quote(path) + " is no Ed25519 " + std::string(kind) + " key in PEM",
               .hint = "'plimsoll keygen FILE' makes a pair"};
}

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// The private key in a file that has no name yet but an own one, on the disk.
Result<std::string> WriteBeside(const std::string& path, const crypto::SigningKey& key) {
  const std::string beside = path + ".new-" + std::to_string(::getpid());
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd file,
                      sys::Open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  std::string pem = key.ToPem();
  auto written = sys::WriteAll(file.Get(), pem, beside);
  crypto::Wipe(pem);
  if (written && ::fsync(file.Get()) != 0) written = sys::ErrnoError("fsync " + Quote(beside));
  if (written) return beside;
  (void)::unlink(beside.c_str());
  return written.error();
}

}  // namespace

std::string PublicPath(const std::string& private_path) {
  if (!private_path.ends_with(kPrivateSuffix)) return private_path + ".pub";
  return private_path.substr(0, private_path.size() - kPrivateSuffix.size()) + ".pub";
}

Result<crypto::SigningKey> ReadPrivateKey(const std::string& path) {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd file, sys::Open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK));
  PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::Stat(file.Get(), path));
  if (!S_ISREG(status.st_mode)) return NoKey(path, "private");
  if ((status.st_mode & 077U) != 0) {
    return Error{.kind = ErrorKind::kPermission,
                 .what = "the private key " + Quote(path) + " can be read by others",
                 .hint = "chmod 600 " + ShellQuote(path)};
  }
  PLIMSOLL_TRY_ASSIGN(std::string pem, sys::ReadAll(file.Get(), kMaxKeyFile, path));
  auto key = crypto::SigningKey::FromPem(pem);
  crypto::Wipe(pem);
  if (!key) return NoKey(path, "private");
  return *std::move(key);
}

Result<crypto::PublicKey> ReadPublicKey(const std::string& path) {
  PLIMSOLL_TRY_ASSIGN(const std::string pem, sys::ReadFile(path, kMaxKeyFile));
  const auto key = crypto::PublicKey::FromPem(pem);
  if (!key) return NoKey(path, "public");
  return *key;
}

Result<bool> MakeKeyPair(const std::string& path) {
  PLIMSOLL_TRY(sys::MakeDirectories(DirectoryOf(path), 0700));
  PLIMSOLL_TRY_ASSIGN(const crypto::SigningKey key, crypto::SigningKey::Generate());
  PLIMSOLL_TRY_ASSIGN(const std::string beside, WriteBeside(path, key));
  const int linked = ::link(beside.c_str(), path.c_str());
  const int link_errno = errno;
  (void)::unlink(beside.c_str());
  if (linked != 0 && link_errno == EEXIST) return false;
  if (linked != 0) return sys::ErrnoError("link " + Quote(path), link_errno);
  PLIMSOLL_TRY(sys::ReplaceFile(AT_FDCWD, PublicPath(path), key.Public().ToPem(), 0644));
  return true;
}

}  // namespace plimsoll::record
