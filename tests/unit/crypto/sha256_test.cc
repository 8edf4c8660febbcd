// SHA-256 against the examples of FIPS 180-4 and against itself in pieces.
#include "crypto/sha256.h"

#include <gtest/gtest.h>

namespace plimsoll::crypto {
namespace {

TEST(Sha256, GivesThePublishedValues) {
  EXPECT_EQ(Sha256HexOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256HexOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256HexOf(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheHashOfTheWhole) {
  const std::string text(1000, 'x');
  for (const std::size_t cut :
       {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{999}}) {
    Sha256 hash;
    hash.Update(std::string_view(text).substr(0, cut));
    hash.Update(std::string_view(text).substr(cut));
    EXPECT_EQ(hash.FinishHex(), Sha256HexOf(text)) << cut;
  }
}

TEST(Sha256, IsReadyForANewMessageAfterFinish) {
  Sha256 hash;
  hash.Update("abc");
  (void)hash.Finish();
  hash.Update("abc");
  EXPECT_EQ(hash.Finish(), Sha256Of("abc"));
}

}  // namespace
}  // namespace plimsoll::crypto
