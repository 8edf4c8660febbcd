// System calls of x86-64 by name and by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace plimsoll::policy {

// The names are those that libseccomp knew when this was built; they are compiled in, so that a run
// reads no table.
std::optional<std::uint32_t> NumberOfCall(std::string_view name);

// Empty for a number that no call has.
std::string_view NameOfCall(std::uint32_t number);

// Every name, by number.
std::vector<std::string_view> CallNames();

}  // namespace plimsoll::policy
