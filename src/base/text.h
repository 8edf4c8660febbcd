// Small text functions: quoting of what comes from outside, splitting, numbers with a range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

// 'text' in single quotes, with control bytes, quotes, backslashes and bytes that are no UTF-8 as
// \xNN, so that a name from an image or a guest cannot drive the reader's terminal. At most
// `max_bytes` of the text are shown, then "...".
std::string Quote(std::string_view text, std::size_t max_bytes = 256);

// One word of a POSIX shell command line: bare when that is safe, otherwise in single quotes.
std::string ShellQuote(std::string_view word);

// The word in single quotes, whatever it is.
std::string SingleQuote(std::string_view word);

// The words as one POSIX shell command line, each by ShellQuote, with a blank between.
std::string ShellJoin(const std::vector<std::string>& words);

// The parts of `text` between `separator`; an empty text has one empty part.
std::vector<std::string_view> Split(std::string_view text, char separator);

// A whole decimal number without sign, blank or leading "+", in [0, max]; nothing otherwise.
std::optional<std::uint64_t> ParseUint(std::string_view text, std::uint64_t max = UINT64_MAX);

// Takes decimal digits with an optional fraction ("2", "0.25") off the front of `text`; nothing
// when there is no digit first, none after the point, or more than 15 in all. Not std::from_chars,
// which for numbers like these would make libm a library of the shipped program.
std::optional<double> TakeDecimal(std::string_view& text);

// `value` with the digits of `base`, as C writes it: 10 plain, 16 behind "0x", 8 behind "0".
std::string Number(std::uint64_t value, int base = 10);

// The length of the well-formed UTF-8 character that the text begins with; 0 when it begins with
// none.
std::size_t Utf8Length(std::string_view text);

// True when the bytes are well-formed UTF-8 (no overlong forms, no surrogates; RFC 3629).
bool IsUtf8(std::string_view bytes);

// Lower-case hexadecimal digits, two a byte.
std::string Hex(std::string_view bytes);

// Standard base64 with padding (RFC 4648, section 4).
std::string Base64(std::string_view bytes);

// The bytes that Base64() makes exactly this text of; nothing for any other text (blanks, missing
// padding, bits behind the last byte).
std::optional<std::string> DecodeBase64(std::string_view text);

// The candidate nearest to `word` by edit distance, when near enough to be a typing error
// (at most 2, and at most a third of the word); empty otherwise.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// "did you mean 'exec'?" with the nearest candidate; empty when there is none.
std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace plimsoll
