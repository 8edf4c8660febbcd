#include "crypto/ed25519.h"

#include <sodium.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "crypto/sha256.h"

namespace plimsoll::crypto {
namespace {

// All of the DER before the key (RFC 8410, section 10): the algorithm identifier has no parameters,
// so it is always the same.
constexpr std::string_view kPublicPrefix("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12);
constexpr std::string_view kPrivatePrefix(
    "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20", 16);
constexpr std::string_view kPublicLabel = "PUBLIC KEY";
constexpr std::string_view kPrivateLabel = "PRIVATE KEY";

std::string Line(std::string_view end, std::string_view label) {
  return "-----" + std::string(end) + " " + std::string(label) + "-----\n";
}

// One line of base64 is enough: 64 characters hold 48 bytes (RFC 7468).
std::string Pem(std::string_view label, std::string_view der) {
  return Line("BEGIN", label) + Base64(der) + "\n" + Line("END", label);
}

using KeyBytes = std::array<unsigned char, kKeyBytes>;

std::optional<KeyBytes> FromPem(std::string_view pem, std::string_view label,
                                std::string_view prefix) {
  const std::string begin = Line("BEGIN", label);
  const std::string end = "\n" + Line("END", label);
  if (!pem.starts_with(begin) || !pem.ends_with(end) || pem.size() < begin.size() + end.size()) {
    return std::nullopt;
  }
  pem.remove_prefix(begin.size());
  pem.remove_suffix(end.size());
  auto der = DecodeBase64(pem);
  if (!der || der->size() != prefix.size() + kKeyBytes || !der->starts_with(prefix)) {
    return std::nullopt;
  }
  KeyBytes key;
  std::copy(der->end() - kKeyBytes, der->end(), key.begin());
  Wipe(*der);
  return key;
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string_view Text(const KeyBytes& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

}  // namespace

std::optional<PublicKey> PublicKey::FromPem(std::string_view pem) {
  const auto key = crypto::FromPem(pem, kPublicLabel, kPublicPrefix);
  if (!key) return std::nullopt;
  return PublicKey(*key);
}

std::string PublicKey::Der() const {
  return std::string(kPublicPrefix) + std::string(Text(bytes_));
}

std::string PublicKey::ToPem() const {
  return Pem(kPublicLabel, Der());
}

std::string PublicKey::Id() const {
  return Sha256HexOf(Der());
}

bool PublicKey::Verifies(std::string_view message, std::string_view signature) const {
  return signature.size() == kSignatureBytes &&
         ::crypto_sign_ed25519_verify_detached(Bytes(signature), Bytes(message), message.size(),
                                               bytes_.data()) == 0;
}

// Not by the library, which ends the process when there are no random bytes. And no sodium_init(),
// which asks for some too: what is used here keeps no state and has one implementation.
Result<SigningKey> SigningKey::Generate() {
  KeyBytes seed;
  if (::getrandom(seed.data(), seed.size(), 0) != static_cast<ssize_t>(seed.size())) {
    return Error{.kind = ErrorKind::kHost, .what = "getrandom", .sys_errno = errno};
  }
  SigningKey key(seed);
  ::sodium_memzero(seed.data(), seed.size());
  return key;
}

SigningKey::SigningKey(const KeyBytes& seed) : seed_(seed) {
  KeyBytes ignored;
  (void)::crypto_sign_ed25519_seed_keypair(ignored.data(), expanded_.data(), seed_.data());
}

std::optional<SigningKey> SigningKey::FromPem(std::string_view pem) {
  auto seed = crypto::FromPem(pem, kPrivateLabel, kPrivatePrefix);
  if (!seed) return std::nullopt;
  std::optional<SigningKey> key(std::in_place, *seed);
  ::sodium_memzero(seed->data(), seed->size());
  return key;
}

SigningKey::SigningKey(SigningKey&& other) noexcept
    : seed_(other.seed_), expanded_(other.expanded_) {
  ::sodium_memzero(other.seed_.data(), other.seed_.size());
  ::sodium_memzero(other.expanded_.data(), other.expanded_.size());
}

SigningKey::~SigningKey() {
  ::sodium_memzero(seed_.data(), seed_.size());
  ::sodium_memzero(expanded_.data(), expanded_.size());
}

std::string SigningKey::ToPem() const {
  return Pem(kPrivateLabel, std::string(kPrivatePrefix) + std::string(Text(seed_)));
}

PublicKey SigningKey::Public() const {
  KeyBytes key;
  std::copy(expanded_.begin() + kKeyBytes, expanded_.end(), key.begin());
  return PublicKey(key);
}

std::string SigningKey::Sign(std::string_view message) const {
  std::string signature(kSignatureBytes, '\0');
  (void)::crypto_sign_ed25519_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr,
                                       Bytes(message), message.size(), expanded_.data());
  return signature;
}

void Wipe(std::string& secret) {
  ::sodium_memzero(secret.data(), secret.size());
  secret.clear();
}

}  // namespace plimsoll::crypto
