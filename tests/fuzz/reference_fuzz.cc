// Any bytes: ParseReference answers or refuses; the full form of what it accepts is read back
// equal.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "oci/reference.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto reference = plimsoll::oci::ParseReference({reinterpret_cast<const char*>(data), size});
  if (!reference) return 0;
  const auto again = plimsoll::oci::ParseReference(reference->ToString());
  if (!again || *again != *reference) std::abort();
  return 0;
}
