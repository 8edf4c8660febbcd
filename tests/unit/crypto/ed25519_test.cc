// Ed25519 signatures and PEM keys, held against OpenSSL.

#include "crypto/ed25519.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <string>

#include "base/text.h"

namespace plimsoll::crypto {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
  void operator()(BIO* bio) const { ::BIO_free(bio); }
};
using OpensslKey = std::unique_ptr<EVP_PKEY, Free>;

std::unique_ptr<BIO, Free> Memory(const std::string& text) {
  return std::unique_ptr<BIO, Free>(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

OpensslKey OpensslPrivate(const std::string& pem) {
  return OpensslKey(::PEM_read_bio_PrivateKey(Memory(pem).get(), nullptr, nullptr, nullptr));
}

OpensslKey OpensslPublic(const std::string& pem) {
  return OpensslKey(::PEM_read_bio_PUBKEY(Memory(pem).get(), nullptr, nullptr, nullptr));
}

const unsigned char* Bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string OpensslSign(EVP_PKEY* key, const std::string& message) {
  const std::unique_ptr<EVP_MD_CTX, Free> context(::EVP_MD_CTX_new());
  std::string signature(64, '\0');
  std::size_t size = signature.size();
  EXPECT_EQ(::EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key), 1);
  EXPECT_EQ(::EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                             &size, Bytes(message), message.size()),
            1);
  return signature;
}

bool OpensslVerifies(EVP_PKEY* key, const std::string& message, const std::string& signature) {
  const std::unique_ptr<EVP_MD_CTX, Free> context(::EVP_MD_CTX_new());
  EXPECT_EQ(::EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key), 1);
  return ::EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(message),
                            message.size()) == 1;
}

SigningKey Counting() {
  std::array<unsigned char, 32> seed;
  for (unsigned char i = 0; i < seed.size(); ++i)
    seed[i] = i;
  return SigningKey(seed);
}

TEST(Ed25519, SignsAsOpensslDoesWithTheSameKey) {
  for (int round = 0; round < 20; ++round) {
    const SigningKey key = *SigningKey::Generate();
    const OpensslKey other = OpensslPrivate(key.ToPem());
    ASSERT_NE(other, nullptr);
    const std::string message(static_cast<std::size_t>(round * 300), static_cast<char>(round));
    EXPECT_EQ(key.Sign(message), OpensslSign(other.get(), message));
  }
}

TEST(Ed25519, VerifiesWhatOpensslVerifiesAndNothingElse) {
  const SigningKey key = *SigningKey::Generate();
  const OpensslKey other = OpensslPublic(key.Public().ToPem());
  ASSERT_NE(other, nullptr);
  const std::string message = "a message";
  const std::string good = key.Sign(message);
  EXPECT_TRUE(key.Public().Verifies(message, good));
  EXPECT_TRUE(OpensslVerifies(other.get(), message, good));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(key.Public().Verifies(message, bad)) << bit;
  }
  EXPECT_FALSE(key.Public().Verifies("another", good));
  EXPECT_FALSE(key.Public().Verifies(message, good + "x"));
  EXPECT_FALSE(key.Public().Verifies(message, ""));
  EXPECT_FALSE(SigningKey::Generate()->Public().Verifies(message, good));
}

TEST(Ed25519, KeysReadBackFromTheirPem) {
  const SigningKey key = Counting();
  const auto read = SigningKey::FromPem(key.ToPem());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->Public(), key.Public());
  EXPECT_EQ(PublicKey::FromPem(key.Public().ToPem()), key.Public());
  EXPECT_EQ(key.Public().ToPem(),
            "-----BEGIN PUBLIC KEY-----\n"
            "MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=\n"
            "-----END PUBLIC KEY-----\n");
  EXPECT_EQ(key.Public().Id(), "a050837d85070582ccf7394b0988847cc312cb88259b894899f6f239cf1791a5");
}

TEST(Ed25519, EveryChangedByteOfAPemIsRefusedOrAnotherKey) {
  const SigningKey key = Counting();
  const std::string secret = key.ToPem();
  const std::string open = key.Public().ToPem();
  for (std::size_t i = 0; i < secret.size(); ++i) {
    std::string bad = secret;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    const auto read = SigningKey::FromPem(bad);
    EXPECT_FALSE(read && read->Public() == key.Public()) << i;
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    std::string bad = open;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_NE(PublicKey::FromPem(bad), key.Public()) << i;
  }
}

TEST(Ed25519, PemOfAnotherKindIsRefused) {
  const SigningKey key = Counting();
  EXPECT_FALSE(SigningKey::FromPem(key.Public().ToPem()));
  EXPECT_FALSE(PublicKey::FromPem(key.ToPem()));
  EXPECT_FALSE(PublicKey::FromPem(key.Public().ToPem() + "\n"));
  EXPECT_FALSE(PublicKey::FromPem(key.Public().ToPem() + key.Public().ToPem()));
  EXPECT_FALSE(PublicKey::FromPem(""));
  EXPECT_FALSE(PublicKey::FromPem("-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n"));
}

TEST(Wipe, LeavesNothingBehind) {
  std::string secret(100, 's');
  const char* const where = secret.data();
  Wipe(secret);
  EXPECT_TRUE(secret.empty());
  EXPECT_EQ(std::string_view(where, 1), std::string_view("\0", 1));
}

}  // namespace
}  // namespace plimsoll::crypto
