#include "oci/digest.h"

#include "base/text.h"

namespace plimsoll::oci {
namespace {

constexpr std::string_view kPrefix = "sha256:";

// The value of a lower-case hexadecimal digit, -1 for anything else.
int DigitValue(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::string Digest::Hex() const {
  return plimsoll::Hex(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<Digest> ParseDigest(std::string_view text) {
  if (text.substr(0, kPrefix.size()) != kPrefix) {
    const bool other = text.substr(0, 7) == "sha512:" || text.substr(0, 7) == "sha384:";
    return Error{.kind = other ? ErrorKind::kUnsupported : ErrorKind::kRequest,
                 .what = "digest " + Quote(text, 160) + " does not begin with 'sha256:'"};
  }
  const std::string_view digits = text.substr(kPrefix.size());
  Digest digest;
  if (digits.size() != 2 * digest.bytes.size()) {
    return Error{.kind = ErrorKind::kRequest,
                 .what = "digest " + Quote(text, 160) +
                         " needs 64 lower-case hexadecimal digits, has " +
                         std::to_string(digits.size()) + " characters"};
  }
  for (std::size_t at = 0; at < digest.bytes.size(); ++at) {
    const int high = DigitValue(digits[2 * at]);
    const int low = DigitValue(digits[2 * at + 1]);
    if (high < 0 || low < 0) {
      return Error{.kind = ErrorKind::kRequest,
                   .what = "digest " + Quote(text, 160) +
                           " has a character that is no lower-case " + "hexadecimal digit"};
    }
    digest.bytes[at] = static_cast<unsigned char>(high * 16 + low);
  }
  return digest;
}

}  // namespace plimsoll::oci
