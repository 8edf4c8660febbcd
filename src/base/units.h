// Values with units: byte counts and durations, as people write them on a command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace plimsoll {

// "4096", "64K", "512M", "2G", "1T"; also "KiB", "MiB", "GiB", "TiB". A unit is a power of 1024.
// Errors: kRequest, with what was expected; values above 2^62 are refused.
Result<std::uint64_t> ParseBytes(std::string_view text);

// "64 MiB" when the count is a whole number of units, otherwise "1000 bytes".
std::string FormatBytes(std::uint64_t bytes);

// "30" (seconds), "1.5s", "200ms", "2m", "1h", as timeout(1) and sleep(1) take them, in
// milliseconds, rounded up. Errors: kRequest; values above 365 days are refused.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

// "1.5 s", "200 ms".
std::string FormatDuration(std::chrono::milliseconds duration);

}  // namespace plimsoll
