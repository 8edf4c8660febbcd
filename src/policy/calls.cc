#include "policy/calls.h"

#include <algorithm>
#include <iterator>

#include "policy_calls.h"  // made at build time by compile_main.cc

namespace plimsoll::policy {

std::string_view NameOfCall(std::uint32_t number) {
  if (number >= std::size(compiled::kCallNameOffsets)) return {};
  return &compiled::kCallNames[compiled::kCallNameOffsets[number]];
}

std::optional<std::uint32_t> NumberOfCall(std::string_view name) {
  const auto* found = std::lower_bound(
      std::begin(compiled::kCallsByName), std::end(compiled::kCallsByName), name,
      [](std::uint32_t number, std::string_view wanted) { return NameOfCall(number) < wanted; });
  if (found == std::end(compiled::kCallsByName) || NameOfCall(*found) != name) return std::nullopt;
  return *found;
}

std::vector<std::string_view> CallNames() {
  std::vector<std::string_view> names;
  for (std::uint32_t number = 0; number < std::size(compiled::kCallNameOffsets); ++number) {
    if (!NameOfCall(number).empty()) names.push_back(NameOfCall(number));
  }
  return names;
}

}  // namespace plimsoll::policy
