// Any bytes: configurations are read or refused; one written again is read the same, and no text of
// it would end early in a system call.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "oci/image_config.h"

namespace {

std::string Format(const plimsoll::oci::ImageConfig& config) {
  plimsoll::json::Writer writer;
  plimsoll::oci::WriteImageConfig(writer, config);
  return writer.Take();
}

bool HasNul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto config = plimsoll::oci::ParseImageConfig(text, "fuzz");
  if (!config) return 0;
  for (const auto& [name, value] : config->env) {
    if (name.empty() || HasNul(name) || HasNul(value)) std::abort();
  }
  if (HasNul(config->user) || HasNul(config->working_dir)) std::abort();
  const std::string once = Format(*config);
  const auto again = plimsoll::oci::ParseImageConfig(once, "again");
  if (!again || Format(*again) != once) std::abort();
  return 0;
}
