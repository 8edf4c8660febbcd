// JSON text, written front to back: members stay in the order of the calls.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace plimsoll::json {

// Builds one document. Calls must nest as JSON does; inside an object every value follows its
// Key() (or is written by Member()). The document is UTF-8 whatever the texts are: a byte that is
// none reads as \xNN, as Quote() writes it; where the bytes themselves matter, use BytesMember().
class Writer {
 public:
  enum class Style {
    kOneLine,   // {"a":1,"b":[2,3]}
    kIndented,  // two blanks a level, one member or item a line
  };
  explicit Writer(Style style = Style::kOneLine) : style_(style) {}

  Writer& BeginObject() { return Begin('{'); }
  Writer& EndObject() { return End('}'); }
  Writer& BeginArray() { return Begin('['); }
  Writer& EndArray() { return End(']'); }
  Writer& Key(std::string_view name);

  Writer& String(std::string_view text);
  Writer& Uint(std::uint64_t number);
  Writer& Int(std::int64_t number);
  Writer& Double(double number);  // shortest form that reads back the same; null when not finite
  Writer& Bool(bool value);
  Writer& Null();
  // An array of strings.
  Writer& Strings(const std::vector<std::string>& texts);
  // An array of whole numbers.
  Writer& Uints(std::span<const std::uint64_t> numbers);
  // A whole JSON value made elsewhere, copied as it is.
  Writer& Raw(std::string_view json);

  // Key() and the value, by its type: text, bool, whole number or double.
  template <typename T>
  Writer& Member(std::string_view name, const T& value) {
    Key(name);
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return String(value);
    } else if constexpr (std::same_as<T, bool>) {
      return Bool(value);
    } else if constexpr (std::unsigned_integral<T>) {
      return Uint(value);
    } else if constexpr (std::signed_integral<T>) {
      return Int(value);
    } else {
      static_assert(std::floating_point<T>, "no JSON form");
      return Double(value);
    }
  }

  // A text that need not be UTF-8: Member(), and when it is none, a second member named
  // `name`_base64 with the very bytes.
  Writer& BytesMember(std::string_view name, std::string_view bytes);

  // The document so far.
  const std::string& Text() const { return text_; }
  // The document; the writer is empty after it.
  std::string Take();

 private:
  Writer& Begin(char bracket);
  Writer& End(char bracket);
  void BeforeValue();
  void NewLine();
  void AppendString(std::string_view text);

  Style style_;
  std::string text_;
  std::size_t depth_ = 0;
  bool first_ = true;  // nothing stands in the innermost array or object yet
  bool after_key_ = false;
};

}  // namespace plimsoll::json
