// SHA-256 (FIPS 180-4), incremental.
#pragma once

#include <openssl/sha.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace plimsoll::crypto {

using Sha256Bytes = std::array<unsigned char, 32>;

// Hashes bytes as they come. After Finish() the object is ready for a new message.
class Sha256 {
 public:
  Sha256();

  void Update(const void* bytes, std::size_t size);
  void Update(std::string_view bytes) { Update(bytes.data(), bytes.size()); }

  Sha256Bytes Finish();
  // The same as 64 lower-case hexadecimal digits.
  std::string FinishHex();

 private:
  SHA256_CTX state_;
};

// The hash of one text.
Sha256Bytes Sha256Of(std::string_view bytes);
std::string Sha256HexOf(std::string_view bytes);

}  // namespace plimsoll::crypto
