#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

namespace plimsoll {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The well-formed sequences of UTF-8 by their first byte (RFC 3629, section 4): what the second may
// be, and how many bytes there are. Any third and fourth byte is 80 to BF.
struct Utf8Form {
  unsigned char first_lead, last_lead, least_second, most_second;
  std::size_t length;
};
constexpr std::array<Utf8Form, 8> kUtf8Forms = {{{0xC2, 0xDF, 0x80, 0xBF, 2},
                                                 {0xE0, 0xE0, 0xA0, 0xBF, 3},
                                                 {0xE1, 0xEC, 0x80, 0xBF, 3},
                                                 {0xED, 0xED, 0x80, 0x9F, 3},
                                                 {0xEE, 0xEF, 0x80, 0xBF, 3},
                                                 {0xF0, 0xF0, 0x90, 0xBF, 4},
                                                 {0xF1, 0xF3, 0x80, 0xBF, 4},
                                                 {0xF4, 0xF4, 0x80, 0x8F, 4}}};

void AppendEscaped(std::string& out, unsigned char byte) {
  out += "\\x";
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 15U];
}

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::size_t Utf8Length(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (byte(0) < 0x80) return 1;
  for (const Utf8Form& form : kUtf8Forms) {
    if (byte(0) < form.first_lead || byte(0) > form.last_lead) continue;
    if (bytes.size() < form.length) return 0;
    bool is_good = byte(1) >= form.least_second && byte(1) <= form.most_second;
    for (std::size_t i = 2; i < form.length; ++i)
      is_good = is_good && byte(i) >= 0x80 && byte(i) <= 0xBF;
    return is_good ? form.length : 0;
  }
  return 0;
}

std::string Quote(std::string_view text, std::size_t max_bytes) {
  std::string out = "'";
  std::string_view rest = text.substr(0, max_bytes);
  while (!rest.empty()) {
    const std::size_t length = Utf8Length(rest);
    const auto lead = static_cast<unsigned char>(rest[0]);
    // C1 controls (U+0080 to U+009F) drive terminals too.
    const bool c1 = length == 2 && lead == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0;
    const bool plain = length > 1 ? !c1 : length == 1 && lead >= 0x20 && lead != 0x7F;
    if (plain && lead != '\'' && lead != '\\') {
      out += rest.substr(0, length);
      rest.remove_prefix(length);
    } else {
      AppendEscaped(out, lead);
      rest.remove_prefix(1);
      if (c1) {
        AppendEscaped(out, static_cast<unsigned char>(rest[0]));
        rest.remove_prefix(1);
      }
    }
  }
  out += text.size() > max_bytes ? "'..." : "'";
  return out;
}

std::string ShellQuote(std::string_view word) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
  if (!word.empty() && word.find_first_not_of(kSafe) == std::string_view::npos) {
    return std::string(word);
  }
  return SingleQuote(word);
}

std::string SingleQuote(std::string_view word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string ShellJoin(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    out += ShellQuote(word);
  }
  return out;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string Number(std::uint64_t value, int base) {
  std::array<char, 24> digits = {};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, base);
  return (base == 16 ? "0x" : base == 8 ? "0" : "") + std::string(digits.data(), end);
}

std::optional<std::uint64_t> ParseUint(std::string_view text, std::uint64_t max) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end || value > max) return std::nullopt;
  return value;
}

std::optional<double> TakeDecimal(std::string_view& text) {
  constexpr std::size_t kMaxDigits = 15;  // as many as a double holds exactly
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t whole = std::min(text.find_first_not_of(kDigits), text.size());
  std::size_t end = whole;
  if (text.substr(whole).starts_with('.')) {
    end = std::min(text.find_first_not_of(kDigits, whole + 1), text.size());
    if (end == whole + 1) return std::nullopt;
  }
  if (whole == 0 || end > kMaxDigits) return std::nullopt;

  double value = 0;
  double scale = 1;
  for (std::size_t i = 0; i < end; ++i) {
    if (i == whole) continue;
    value = value * 10 + (text[i] - '0');
    if (i > whole) scale *= 10;
  }
  text.remove_prefix(end);
  return value / scale;
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = Utf8Length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string Hex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kHexDigits[byte >> 4U];
    out += kHexDigits[byte & 15U];
  }
  return out;
}

std::string Base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  char* digit = out.data();
  const auto put = [&digit](std::uint32_t group, std::size_t digits) {
    for (std::size_t i = 0; i < digits; ++i)
      *digit++ = kBase64Alphabet[group >> (18U - 6U * i) & 63U];
  };
  const auto byte = [&bytes](std::size_t at) {
    return std::uint32_t{static_cast<unsigned char>(bytes[at])};
  };
  std::size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3)
    put(byte(at) << 16U | byte(at + 1) << 8U | byte(at + 2), 4);
  if (bytes.size() - at == 1) put(byte(at) << 16U, 2);
  if (bytes.size() - at == 2) put(byte(at) << 16U | byte(at + 1) << 8U, 3);
  return out;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  static constexpr std::uint8_t kNone = 255;
  static constexpr std::array<std::uint8_t, 256> kValues = [] {
    std::array<std::uint8_t, 256> values = {};
    values.fill(kNone);
    for (std::size_t i = 0; i < kBase64Alphabet.size(); ++i)
      values[static_cast<unsigned char>(kBase64Alphabet[i])] = static_cast<std::uint8_t>(i);
    return values;
  }();
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string out(text.size() / 4 * 3, '\0');
  char* next = out.data();
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const std::size_t digits = at + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint8_t value = i < digits ? kValues[static_cast<unsigned char>(text[at + i])] : 0;
      if (value == kNone) return std::nullopt;
      group = group << 6U | value;
    }
    // Two digits hold one byte and four bits more, three hold two bytes and two.
    if (digits < 4 && (group & (digits == 2 ? 0xFFFFU : 0xFFU)) != 0) return std::nullopt;
    *next++ = static_cast<char>(group >> 16U);
    *next++ = static_cast<char>(group >> 8U);
    *next++ = static_cast<char>(group);
  }
  out.resize(out.size() - padding);
  return out;
}

std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  std::size_t best_distance = std::min<std::size_t>(2, word.size() / 3 + 1) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? std::string() : "did you mean " + Quote(nearest) + "?";
}

}  // namespace plimsoll
