// Any bytes: manifests and indexes are read or refused; a manifest written again is read the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "oci/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)plimsoll::oci::ParseImageIndex(text, "fuzz");
  const auto manifest = plimsoll::oci::ParseManifest(text, "fuzz");
  if (!manifest) return 0;
  const std::string once = plimsoll::oci::FormatManifest(*manifest);
  const auto again = plimsoll::oci::ParseManifest(once, "again");
  if (!again || plimsoll::oci::FormatManifest(*again) != once) std::abort();
  return 0;
}
