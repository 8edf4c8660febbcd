#include "base/units.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace plimsoll {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62U;
constexpr std::array<Unit, 14> kByteUnits = {{{"", 1},
                                              {"B", 1},
                                              {"K", 1ULL << 10U},
                                              {"KiB", 1ULL << 10U},
                                              {"k", 1ULL << 10U},
                                              {"M", 1ULL << 20U},
                                              {"MiB", 1ULL << 20U},
                                              {"m", 1ULL << 20U},
                                              {"G", 1ULL << 30U},
                                              {"GiB", 1ULL << 30U},
                                              {"g", 1ULL << 30U},
                                              {"T", 1ULL << 40U},
                                              {"TiB", 1ULL << 40U},
                                              {"t", 1ULL << 40U}}};
constexpr std::array<Unit, 6> kTimeUnits = {
    {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};

}  // namespace

Result<std::uint64_t> ParseBytes(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = ParseUint(text.substr(0, digits), kMaxBytes);
  const std::string_view suffix = text.substr(digits);
  for (const Unit& unit : kByteUnits) {
    if (count && suffix == unit.name && *count <= kMaxBytes / unit.factor) {
      return *count * unit.factor;
    }
  }
  return Error{
      .kind = ErrorKind::kRequest,
      .what = Quote(text) + ": expected a number of bytes with K, M, G or T, such as '512M'"};
}

std::string FormatBytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kNames = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (unit + 1 < kNames.size() && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + " " + std::string(kNames[unit]);
}

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  constexpr double kMaxMilliseconds = 365.0 * 86'400'000;
  std::string_view suffix = text;
  const std::optional<double> count = TakeDecimal(suffix);
  for (const Unit& unit : kTimeUnits) {
    const double milliseconds = std::ceil(count.value_or(0) * static_cast<double>(unit.factor));
    if (count && suffix == unit.name && milliseconds <= kMaxMilliseconds) {
      return std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
    }
  }
  return Error{.kind = ErrorKind::kRequest,
               .what = Quote(text) +
                       ": expected a duration with ms, s, m, h or d, such as '30s'; a bare number "
                       "is seconds"};
}

std::string FormatDuration(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  if (count < 1000) return std::to_string(count) + " ms";
  std::string text = std::to_string(count / 1000);
  if (count % 1000 != 0) {
    std::string fraction = std::to_string(1000 + count % 1000).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += "." + fraction;
  }
  return text + " s";
}

}  // namespace plimsoll
