// Any bytes: ParseDigest answers or refuses; what it accepts prints back to itself.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "oci/digest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto digest = plimsoll::oci::ParseDigest(text);
  if (digest && digest->ToString() != text) std::abort();
  return 0;
}
