// A content digest as the image specification writes it: "sha256:" and 64 hexadecimal digits.
#pragma once

#include <array>
#include <compare>
#include <string>
#include <string_view>

#include "base/error.h"

namespace plimsoll::oci {

// A SHA-256 digest. Other algorithms of the specification are refused by ParseDigest: a store that
// trusts one algorithm has one thing to get right.
struct Digest {
  std::array<unsigned char, 32> bytes = {};

  std::string Hex() const;  // 64 lower-case digits
  std::string ToString() const { return "sha256:" + Hex(); }

  // NOLINTNEXTLINE(modernize-use-nullptr): it takes the comparison with 0 in there for a pointer's
  auto operator<=>(const Digest&) const = default;
};

// Reads "sha256:<64 lower-case hexadecimal digits>". Errors: kRequest, kUnsupported for another
// algorithm.
Result<Digest> ParseDigest(std::string_view text);

}  // namespace plimsoll::oci
