// The low-level calls are deprecated since OpenSSL 3.0 in favour of EVP. They stay here on purpose:
// the first EVP call of a process initialises the whole library, 1.1 ms against 14 us here, and a
// run hashes its plan before it starts. The warning is silenced for these three calls alone.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "crypto/sha256.h"

#include "base/text.h"

namespace plimsoll::crypto {

Sha256::Sha256() {
  (void)::SHA256_Init(&state_);
}  // cannot fail: it fills in eight constants

void Sha256::Update(const void* bytes, std::size_t size) {
  (void)::SHA256_Update(&state_, bytes, size);  // cannot fail either
}

Sha256Bytes Sha256::Finish() {
  Sha256Bytes digest;
  (void)::SHA256_Final(digest.data(), &state_);
  (void)::SHA256_Init(&state_);
  return digest;
}

std::string Sha256::FinishHex() {
  const Sha256Bytes digest = Finish();
  return Hex(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

Sha256Bytes Sha256Of(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

std::string Sha256HexOf(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.FinishHex();
}

}  // namespace plimsoll::crypto
