// Ed25519 signatures (RFC 8032) and their keys as PEM files (RFC 8410).
//
// By libsodium and not by OpenSSL, whose first key costs a process some 4 ms: a run signs one
// record. The tests hold both against each other.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace plimsoll::crypto {

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kSignatureBytes = 64;

class PublicKey {
 public:
  explicit PublicKey(const std::array<unsigned char, kKeyBytes>& bytes) : bytes_(bytes) {}

  // From "-----BEGIN PUBLIC KEY-----" with the 44 bytes of a SubjectPublicKeyInfo, in the one form
  // that ToPem() and openssl(1) write; nothing for any other text.
  static std::optional<PublicKey> FromPem(std::string_view pem);
  std::string ToPem() const;  // 113 bytes

  // Lower-case hexadecimal SHA-256 of the DER SubjectPublicKeyInfo.
  std::string Id() const;

  bool Verifies(std::string_view message, std::string_view signature) const;

  bool operator==(const PublicKey&) const = default;

 private:
  std::string Der() const;

  std::array<unsigned char, kKeyBytes> bytes_;
};

// A private key, cleared from memory at its end.
class SigningKey {
 public:
  static Result<SigningKey> Generate();  // errors: kHost
  explicit SigningKey(const std::array<unsigned char, kKeyBytes>& seed);
  // From "-----BEGIN PRIVATE KEY-----", PKCS#8 without encryption or attributes; nothing for any
  // other text.
  static std::optional<SigningKey> FromPem(std::string_view pem);

  SigningKey(const SigningKey&) = delete;
  SigningKey& operator=(const SigningKey&) = delete;
  SigningKey(SigningKey&& other) noexcept;
  SigningKey& operator=(SigningKey&&) = delete;
  ~SigningKey();

  std::string ToPem() const;  // 119 bytes, secret
  PublicKey Public() const;
  std::string Sign(std::string_view message) const;  // kSignatureBytes

 private:
  std::array<unsigned char, kKeyBytes> seed_;
  std::array<unsigned char, 2 * kKeyBytes> expanded_;  // the seed, then the public key
};

// Clears a text that held a secret, so that no later memory of this process shows it.
void Wipe(std::string& secret);

}  // namespace plimsoll::crypto
