#include "record/recorder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "record/key_file.h"
#include "record/own_digest.h"
#include "sys/file.h"

namespace plimsoll::record {
namespace {

std::string DirectoryOf(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

// What can be known of a key without its bytes.
Result<void> LookAtKey(const Places& places) {
  struct stat status = {};
  if (::stat(places.key.c_str(), &status) == 0) {
    if ((status.st_mode & 077U) == 0 && ::access(places.key.c_str(), R_OK) == 0) return {};
    PLIMSOLL_TRY(ReadPrivateKey(places.key));  // says what is wrong with it
    return {};
  }
  if (errno != ENOENT) return sys::ErrnoError("open the key " + Quote(places.key));
  if (!places.make_key) {
    return Error{.kind = ErrorKind::kRequest,
                 .what = "there is no key " + Quote(places.key),
                 .hint = "'plimsoll keygen " + ShellQuote(places.key) + "' makes a pair"};
  }
  const std::string directory = DirectoryOf(places.key);
  PLIMSOLL_TRY(sys::MakeDirectories(directory, 0700));
  if (::access(directory.c_str(), W_OK | X_OK) == 0) return {};
  return sys::ErrnoError("make a key in " + Quote(directory));
}

// Length as 8 bytes and the text, for each.
void Put(std::string& bytes, std::string_view text) {
  const std::uint64_t size = text.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += text;
}

bool Take(std::string_view& bytes, std::string& text) {
  std::uint64_t size = 0;
  if (bytes.size() < sizeof size) return false;
  bytes.copy(reinterpret_cast<char*>(&size), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size > bytes.size()) return false;
  text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

}  // namespace

Result<Recorder> Recorder::Prepare(Places places, std::string version, std::string kernel_release) {
  PLIMSOLL_TRY(LookAtKey(places));
  PLIMSOLL_TRY_ASSIGN(Bundle bundle, Bundle::Open(places.bundle));
  PLIMSOLL_TRY_ASSIGN(std::string digest, OwnDigest(places.digest_cache));
  return Recorder(std::move(places), std::move(bundle),
                  Runner{.version = std::move(version),
                         .sha256 = std::move(digest),
                         .kernel_release = std::move(kernel_release)});
}

Result<Recorded> Recorder::Record(const Draft& draft) {
  Recorded recorded;
  struct stat status = {};
  if (places_.make_key && ::stat(places_.key.c_str(), &status) != 0 && errno == ENOENT) {
    PLIMSOLL_TRY_ASSIGN(recorded.made_key, MakeKeyPair(places_.key));
  }
  PLIMSOLL_TRY_ASSIGN(const crypto::SigningKey key, ReadPrivateKey(places_.key));
  PLIMSOLL_TRY_ASSIGN(recorded.line, bundle_.Append(draft, key, places_.sync));
  recorded.key_id = key.Public().Id();
  return recorded;
}

std::string EncodeDraft(const Draft& draft) {
  std::string bytes;
  Put(bytes, draft.request);
  Put(bytes, draft.response);
  Put(bytes, draft.plan);
  Put(bytes, WriteStatement(draft.statement));
  return bytes;
}

Result<Draft> DecodeDraft(std::string_view bytes) {
  Draft draft;
  std::string statement;
  if (!Take(bytes, draft.request) || !Take(bytes, draft.response) || !Take(bytes, draft.plan) ||
      !Take(bytes, statement) || !bytes.empty()) {
    return Error{.kind = ErrorKind::kProtocol, .what = "a draft of a record was cut short"};
  }
  PLIMSOLL_TRY_ASSIGN(draft.statement, ReadStatement(std::move(statement)));
  return draft;
}

}  // namespace plimsoll::record
