#include "json/writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace plimsoll::json {
namespace {

template <typename T>
void AppendNumber(std::string& text, T number) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text.append(digits.data(), end.ptr);
}

// The escape of a byte that may not stand as it is. DEL is escaped as well, since some terminals
// act on it.
std::string Escape(char byte) {
  switch (byte) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  return "\\u00" + Hex(std::string_view(&byte, 1));
}

// No document may hold it, so it is shown as Quote() shows it.
std::string EscapeNoUtf8(char byte) {
  return "\\\\x" + Hex(std::string_view(&byte, 1));
}

}  // namespace

void Writer::NewLine() {
  if (style_ == Style::kOneLine) return;
  text_ += '\n';
  text_.append(2 * depth_, ' ');
}

void Writer::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!first_) text_ += ',';
  first_ = false;
  NewLine();
}

Writer& Writer::Begin(char bracket) {
  BeforeValue();
  text_ += bracket;
  ++depth_;
  first_ = true;
  return *this;
}

Writer& Writer::End(char bracket) {
  --depth_;
  if (!first_) NewLine();
  first_ = false;
  text_ += bracket;
  return *this;
}

Writer& Writer::Key(std::string_view name) {
  BeforeValue();
  AppendString(name);
  text_ += style_ == Style::kOneLine ? ":" : ": ";
  after_key_ = true;
  return *this;
}

void Writer::AppendString(std::string_view text) {
  text_ += '"';
  static constexpr std::array<bool, 256> kEscaped = [] {
    std::array<bool, 256> escaped = {};
    for (std::size_t code = 0; code < 0x20; ++code)
      escaped[code] = true;
    escaped[0x7F] = escaped['"'] = escaped['\\'] = true;
    return escaped;
  }();
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto code = static_cast<unsigned char>(text[at]);
    const std::size_t length = code < 0x80 ? 1 : Utf8Length(text.substr(at));
    if (length > 0 && !kEscaped[code]) {
      at += length;
      continue;
    }
    text_.append(text, copied, at - copied);
    text_ += code < 0x80 ? Escape(text[at]) : EscapeNoUtf8(text[at]);
    copied = ++at;
  }
  text_.append(text, copied);
  text_ += '"';
}

Writer& Writer::String(std::string_view text) {
  BeforeValue();
  AppendString(text);
  return *this;
}

Writer& Writer::Uint(std::uint64_t number) {
  BeforeValue();
  AppendNumber(text_, number);
  return *this;
}

Writer& Writer::Int(std::int64_t number) {
  BeforeValue();
  AppendNumber(text_, number);
  return *this;
}

Writer& Writer::Double(double number) {
  if (!std::isfinite(number)) return Null();
  BeforeValue();
  AppendNumber(text_, number == 0 ? 0.0 : number);  // "-0" would be read as a whole number
  return *this;
}

Writer& Writer::Bool(bool value) {
  return Raw(value ? "true" : "false");
}

Writer& Writer::Null() {
  return Raw("null");
}

Writer& Writer::Strings(const std::vector<std::string>& texts) {
  BeginArray();
  for (const std::string& text : texts)
    String(text);
  return EndArray();
}

Writer& Writer::Uints(std::span<const std::uint64_t> numbers) {
  BeginArray();
  for (const std::uint64_t number : numbers)
    Uint(number);
  return EndArray();
}

Writer& Writer::Raw(std::string_view json) {
  BeforeValue();
  text_ += json;
  return *this;
}

Writer& Writer::BytesMember(std::string_view name, std::string_view bytes) {
  Member(name, bytes);
  return IsUtf8(bytes) ? *this : Member(std::string(name) + "_base64", Base64(bytes));
}

std::string Writer::Take() {
  depth_ = 0;
  first_ = true;
  after_key_ = false;
  return std::exchange(text_, {});
}

}  // namespace plimsoll::json
