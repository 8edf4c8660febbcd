// Boost.JSON's events become a Tree.
#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "json/tree.h"

namespace plimsoll::json {
namespace {

using ErrorCode = boost::json::error_code;
using Text = boost::json::string_view;

constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

// The handler that basic_parser asks for; its names and signatures are Boost's.
class TreeBuilder {
 public:
  static constexpr std::size_t max_object_size = kNoLimit;
  static constexpr std::size_t max_array_size = kNoLimit;
  static constexpr std::size_t max_key_size = kNoLimit;
  static constexpr std::size_t max_string_size = kNoLimit;

  TreeBuilder(std::string& texts, std::vector<Node>& nodes, bool allow_duplicates)
      : texts_(texts), nodes_(nodes), allow_duplicates_(allow_duplicates) {}

  // Keys, values and ends of arrays and objects seen so far.
  std::size_t Events() const { return events_; }
  // The name of the member that an object has twice; nothing when that did not happen.
  const std::optional<std::string>& Duplicate() const { return duplicate_; }

  bool on_document_begin(ErrorCode&) { return true; }
  bool on_document_end(ErrorCode&) { return true; }
  bool on_object_begin(ErrorCode&) { return Open(Kind::kObject), true; }
  bool on_object_end(std::size_t, ErrorCode& error) {
    const std::size_t object = Close();
    if (allow_duplicates_ || !HasDuplicates(object)) return true;
    error = boost::json::error::extra_data;  // any code will do: Duplicate() says what it was
    return false;
  }
  bool on_array_begin(ErrorCode&) { return Open(Kind::kArray), true; }
  bool on_array_end(std::size_t, ErrorCode&) { return Close(), true; }
  bool on_key_part(Text part, std::size_t, ErrorCode&) { return Append(part), true; }
  bool on_key(Text part, std::size_t, ErrorCode&) {
    key_ = Finish(part);
    ++events_;
    return true;
  }
  bool on_string_part(Text part, std::size_t, ErrorCode&) { return Append(part), true; }
  bool on_string(Text part, std::size_t, ErrorCode&) {
    const Slice slice = Finish(part);
    Add(Kind::kString).text = slice;
    return true;
  }
  bool on_number_part(Text part, ErrorCode&) {
    number_.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t number, Text, ErrorCode&) {
    number_.clear();
    Add(Kind::kInt).integer = number;
    return true;
  }
  bool on_uint64(std::uint64_t number, Text, ErrorCode&) {
    number_.clear();
    Add(Kind::kUint).natural = number;
    return true;
  }
  // Boost rounds fractions loosely in this version, so that a number would not survive being
  // written and read; its own value is kept only where the exact one is too small to have a form.
  bool on_double(double loose, Text last_part, ErrorCode& error) {
    number_.append(last_part.data(), last_part.size());
    double number = loose;
    (void)std::from_chars(number_.data(), number_.data() + number_.size(), number);
    number_.clear();
    if (!std::isfinite(number)) {
      error = boost::json::error::exponent_overflow;
      return false;
    }
    Add(Kind::kDouble).real = number;
    return true;
  }
  bool on_bool(bool value, ErrorCode&) {
    Add(Kind::kBool).boolean = value;
    return true;
  }
  bool on_null(ErrorCode&) { return Add(Kind::kNull), true; }
  bool on_comment_part(Text, ErrorCode&) { return true; }
  bool on_comment(Text, ErrorCode&) { return true; }

 private:
  Node& Add(Kind kind) {
    const std::size_t index = nodes_.size();
    Node node;
    node.kind = kind;
    node.parent = open_.empty() ? index : open_.back();
    node.end = index + 1;
    node.key = std::exchange(key_, Slice{});
    nodes_.push_back(node);
    ++events_;
    return nodes_.back();
  }
  void Open(Kind kind) {
    Add(kind);
    open_.push_back(nodes_.size() - 1);
  }
  std::size_t Close() {
    const std::size_t index = open_.back();
    open_.pop_back();
    nodes_[index].end = nodes_.size();
    ++events_;
    return index;
  }
  void Append(Text part) { texts_.append(part.data(), part.size()); }
  Slice Finish(Text part) {
    Append(part);
    const Slice slice = {.at = pending_, .size = texts_.size() - pending_};
    pending_ = texts_.size();
    return slice;
  }
  bool HasDuplicates(std::size_t object) {
    names_.clear();
    for (std::size_t at = object + 1; at < nodes_[object].end; at = nodes_[at].end) {
      names_.push_back(std::string_view(texts_).substr(nodes_[at].key.at, nodes_[at].key.size));
    }
    std::sort(names_.begin(), names_.end());
    const auto twice = std::adjacent_find(names_.begin(), names_.end());
    if (twice == names_.end()) return false;
    duplicate_ = *twice;
    return true;
  }

  std::string& texts_;
  std::vector<Node>& nodes_;
  bool allow_duplicates_;
  std::vector<std::size_t> open_;  // the arrays and objects around the next value
  Slice key_;                      // of the next value
  std::string number_;             // the number being read, as it is written
  std::size_t pending_ = 0;        // where in `texts` the string being read began
  std::size_t events_ = 0;
  std::optional<std::string> duplicate_;
  std::vector<std::string_view> names_;  // scratch of HasDuplicates
};

using Parser = boost::json::basic_parser<TreeBuilder>;

boost::json::parse_options Options(const ReadLimits& limits) {
  boost::json::parse_options options;
  options.max_depth = limits.depth;
  return options;
}

bool IsBlank(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

// What stopped the parser behind `used` bytes.
Error ParseError(const Document::Tree& tree, const TreeBuilder& builder, const ErrorCode& error,
                 std::size_t used) {
  const std::string place = tree.name + ": byte " + std::to_string(used) + ": ";
  if (builder.Duplicate()) {
    return Error{
        .kind = ErrorKind::kProtocol,
        .what = place + "an object has the member " + Quote(*builder.Duplicate(), 64) + " twice"};
  }
  if (error == boost::json::error::too_deep) {
    return Error{.kind = ErrorKind::kCapacity,
                 .what = place + "arrays and objects lie more than " +
                         std::to_string(tree.limits.depth) + " deep"};
  }
  return Error{.kind = ErrorKind::kProtocol, .what = place + "no JSON: " + error.message()};
}

}  // namespace

std::size_t Document::Tree::OffsetOf(std::size_t index) const {
  std::string scratch_texts;
  std::vector<Node> scratch_nodes;
  Parser parser(Options(limits), scratch_texts, scratch_nodes, limits.allow_duplicates);
  ErrorCode error;
  std::size_t behind_last = 0;  // the end of the key, value or bracket before this value
  for (std::size_t at = 0; at < text.size() && !error; ++at) {
    const std::size_t before = parser.handler().Events();
    (void)parser.write_some(at + 1 < text.size(), text.data() + at, 1, error);
    if (scratch_nodes.size() > index) break;
    if (parser.handler().Events() != before) behind_last = at + 1;
  }
  while (behind_last < text.size() &&
         (IsBlank(text[behind_last]) || text[behind_last] == ':' || text[behind_last] == ',')) {
    ++behind_last;
  }
  return behind_last;
}

Result<Document> Parse(std::string text, std::string name, const ReadLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error{.kind = ErrorKind::kCapacity,
                 .what = name + ": has " + std::to_string(text.size()) + " bytes, more than the " +
                         std::to_string(limits.bytes) + " allowed"};
  }
  auto tree = std::make_unique<Document::Tree>();
  tree->name = std::move(name);
  tree->text = std::move(text);
  tree->limits = limits;
  tree->texts.reserve(tree->text.size());  // decoding never makes a text longer
  tree->nodes.reserve(tree->text.size() / 16 + 1);
  Parser parser(Options(limits), tree->texts, tree->nodes, limits.allow_duplicates);
  ErrorCode error;
  std::size_t used = parser.write_some(false, tree->text.data(), tree->text.size(), error);
  if (error) return ParseError(*tree, parser.handler(), error, used);
  while (used < tree->text.size() && IsBlank(tree->text[used]))
    ++used;
  if (used < tree->text.size()) {
    return Error{.kind = ErrorKind::kProtocol,
                 .what = tree->name + ": byte " + std::to_string(used) +
                         ": something stands behind the end of the document"};
  }
  return Document(std::move(tree));
}

}  // namespace plimsoll::json
