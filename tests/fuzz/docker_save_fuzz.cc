// Any bytes: docker's manifest.json is read or refused.
#include <cstdint>
#include <string>

#include "oci/docker_save.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)plimsoll::oci::ParseDockerSave({reinterpret_cast<const char*>(data), size}, "fuzz");
  return 0;
}
