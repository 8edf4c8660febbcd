// JSON documents from outside, read strictly: limits, no duplicate members, errors with a place.
//
// Parse() makes a Document; a Value is a view into it with typed access. Every error names the
// document, the byte offset and the JSON pointer (RFC 6901) of the value that is wrong. Built on
// Boost.JSON's event parser, which no header of ours shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace plimsoll::json {

// What a document may be. Larger or deeper ones are refused (kCapacity) before they cost anything.
struct ReadLimits {
  std::size_t bytes = std::size_t{4} << 20U;
  std::size_t depth = 32;         // arrays and objects within each other
  bool allow_duplicates = false;  // of equal members the last one counts
};

enum class Kind { kNull, kBool, kInt, kUint, kDouble, kString, kArray, kObject };

class Document;
class Writer;

// One value of a Document, which must outlive it. Cheap to copy. Accessors answer kProtocol when
// the value is of another kind or out of range.
class Value {
 public:
  Kind GetKind() const;
  bool IsNull() const { return GetKind() == Kind::kNull; }

  Result<bool> Bool() const;
  Result<std::string_view> String() const;  // valid as long as the document
  Result<std::uint64_t> Uint(std::uint64_t max = UINT64_MAX) const;  // a whole number in [0, max]
  Result<std::int64_t> Int() const;
  Result<double> Double() const;  // any number
  Result<std::vector<Value>> Array() const;
  Result<std::vector<std::string>> Strings() const;  // an array of strings

  // The members of an object in the order of the document.
  Result<std::vector<std::pair<std::string_view, Value>>> Members() const;
  // The member `name`: an error when it is missing, or when this is no object.
  Result<Value> Member(std::string_view name) const;
  // The same, but nothing when it is missing or null.
  Result<std::optional<Value>> Find(std::string_view name) const;
  // Refuses any member that is not in `names`.
  Result<void> OnlyMembers(std::initializer_list<std::string_view> names) const;

  // The value as Writer writes it: what reads back the same and has one spelling only.
  void WriteTo(Writer& writer) const;

  // "/config/Env/0"; empty for the whole document.
  std::string Pointer() const;
  // An error about this value: "NAME: byte 17: /config/Env: `what`", kind kProtocol.
  Error Complaint(std::string what) const;

 private:
  friend class Document;
  Value(const Document* document, std::size_t index) : document_(document), index_(index) {}

  const Document* document_;
  std::size_t index_;
};

// A parsed document. Movable; values point into what it holds and survive a move of it only when
// they are taken anew from Root().
class Document {
 public:
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  Value Root() const { return Value(this, 0); }

  struct Tree;  // private to json/ (tree.h)

 private:
  friend class Value;
  friend Result<Document> Parse(std::string text, std::string name, const ReadLimits& limits);
  explicit Document(std::unique_ptr<Tree> tree);

  std::unique_ptr<Tree> tree_;
};

// Parses `text`, which messages call `name` (a file or what it was read from). Accepts JSON alone
// (RFC 8259: no comments, no trailing commas, UTF-8) with nothing but blanks behind it.
Result<Document> Parse(std::string text, std::string name, const ReadLimits& limits = {});

}  // namespace plimsoll::json
