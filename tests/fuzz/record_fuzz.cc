// Any bytes: the store's own documents are read or refused, and written again they stay the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "image/layer_facts.h"
#include "image/record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::image;  // NOLINT(google-build-using-namespace): a program of one page
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto record = ParseRecord(text, "fuzz")) {
    const std::string once = FormatRecord(*record);
    const auto again = ParseRecord(once, "again");
    if (!again || FormatRecord(*again) != once) std::abort();
  }
  if (const auto facts = ParseLayerFacts(text, "fuzz")) {
    const std::string once = FormatLayerFacts(*facts);
    const auto again = ParseLayerFacts(once, "again");
    if (!again || FormatLayerFacts(*again) != once) std::abort();
  }
  return 0;
}
