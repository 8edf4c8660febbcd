#include "record/own_digest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/text.h"
#include "crypto/sha256.h"
#include "sys/file.h"

namespace plimsoll::record {
namespace {

constexpr std::string_view kProgram = "/proc/self/exe";
constexpr std::size_t kMaxCached = 256;
constexpr std::size_t kDigestDigits = 64;

// "DEVICE INODE SIZE MTIME CTIME ", the times in nanoseconds.
std::string Identity(const struct stat& status) {
  const auto nanoseconds = [](const timespec& time) {
    return std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
  };
  return std::to_string(status.st_dev) + " " + std::to_string(status.st_ino) + " " +
         std::to_string(status.st_size) + " " + nanoseconds(status.st_mtim) + " " +
         nanoseconds(status.st_ctim) + " ";
}

Result<std::string> Hash(int file) {
  crypto::Sha256 hash;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count == 0) return hash.FinishHex();
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return sys::ErrnoError("read " + Quote(kProgram));
    hash.Update(buffer.data(), static_cast<std::size_t>(count));
  }
}

// In place and not beside: a process that is killed here leaves nothing but a text that is too
// short, which nobody takes for an answer. Where it cannot be kept, the next run hashes again.
void Keep(const std::string& path, std::string_view text) {
  const auto file = sys::Open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  if (file) (void)sys::WriteAll(file->Get(), text, path);
}

}  // namespace

Result<std::string> OwnDigest(const std::string& cache) {
  const std::string path = cache + "/runner-digest";
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd file, sys::Open(std::string(kProgram), O_RDONLY));
  PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::Stat(file.Get(), kProgram));
  const std::string identity = Identity(status);
  if (const auto cached = sys::ReadFile(path, kMaxCached);
      cached && cached->size() == identity.size() + kDigestDigits &&
      cached->starts_with(identity)) {
    return cached->substr(identity.size());
  }
  PLIMSOLL_TRY_ASSIGN(std::string digest, Hash(file.Get()));
  Keep(path, identity + digest);
  return digest;
}

}  // namespace plimsoll::record
