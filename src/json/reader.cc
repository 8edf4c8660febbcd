#include "json/reader.h"

#include <algorithm>

#include "base/text.h"
#include "json/tree.h"
#include "json/writer.h"

namespace plimsoll::json {
namespace {

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kInt:
    case Kind::kUint:
      return "a whole number";
    case Kind::kDouble:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
  }
  return "";
}

// RFC 6901: "~" and "/" of a name are written "~0" and "~1".
std::string PointerPart(std::string_view name) {
  std::string part = "/";
  for (const char byte : name) {
    if (byte == '~') {
      part += "~0";
    } else if (byte == '/') {
      part += "~1";
    } else {
      part += byte;
    }
  }
  return part;
}

}  // namespace

Document::Document(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Kind Value::GetKind() const {
  return document_->tree_->nodes[index_].kind;
}

void Value::WriteTo(Writer& writer) const {
  const Document::Tree& tree = *document_->tree_;
  const Node& node = tree.nodes[index_];
  switch (node.kind) {
    case Kind::kNull:
      writer.Null();
      break;
    case Kind::kBool:
      writer.Bool(node.boolean);
      break;
    case Kind::kInt:
      writer.Int(node.integer);
      break;
    case Kind::kUint:
      writer.Uint(node.natural);
      break;
    case Kind::kDouble:
      writer.Double(node.real);
      break;
    case Kind::kString:
      writer.String(tree.View(node.text));
      break;
    case Kind::kArray:
      writer.BeginArray();
      for (std::size_t at = index_ + 1; at < node.end; at = tree.nodes[at].end)
        Value(document_, at).WriteTo(writer);
      writer.EndArray();
      break;
    case Kind::kObject:
      writer.BeginObject();
      for (std::size_t at = index_ + 1; at < node.end; at = tree.nodes[at].end) {
        writer.Key(tree.View(tree.nodes[at].key));
        Value(document_, at).WriteTo(writer);
      }
      writer.EndObject();
      break;
  }
}

std::string Value::Pointer() const {
  const Document::Tree& tree = *document_->tree_;
  std::string pointer;
  for (std::size_t index = index_; tree.nodes[index].parent != index;) {
    const std::size_t parent = tree.nodes[index].parent;
    if (tree.nodes[parent].kind == Kind::kObject) {
      pointer.insert(0, PointerPart(tree.View(tree.nodes[index].key)));
    } else {
      std::size_t position = 0;
      for (std::size_t at = parent + 1; at != index; at = tree.nodes[at].end)
        ++position;
      pointer.insert(0, "/" + std::to_string(position));
    }
    index = parent;
  }
  return pointer;
}

Error Value::Complaint(std::string what) const {
  const Document::Tree& tree = *document_->tree_;
  std::string place = tree.name + ": byte " + std::to_string(tree.OffsetOf(index_)) + ": ";
  const std::string pointer = Pointer();
  if (!pointer.empty()) {
    const std::string quoted = Quote(pointer);  // without its quotes: a pointer begins with "/"
    place += quoted.substr(1, quoted.size() - 2) + ": ";
  }
  return Error{.kind = ErrorKind::kProtocol, .what = place + std::move(what)};
}

Result<bool> Value::Bool() const {
  const Node& node = document_->tree_->nodes[index_];
  if (node.kind == Kind::kBool) return node.boolean;
  return Complaint(std::string("expected true or false, found ") + KindName(node.kind));
}

Result<std::string_view> Value::String() const {
  const Node& node = document_->tree_->nodes[index_];
  if (node.kind == Kind::kString) return document_->tree_->View(node.text);
  return Complaint(std::string("expected a string, found ") + KindName(node.kind));
}

Result<std::uint64_t> Value::Uint(std::uint64_t max) const {
  const Node& node = document_->tree_->nodes[index_];
  if (node.kind == Kind::kInt && node.integer >= 0) {
    const auto number = static_cast<std::uint64_t>(node.integer);
    if (number <= max) return number;
  }
  if (node.kind == Kind::kUint && node.natural <= max) return node.natural;
  return Complaint("expected a whole number from 0 to " + std::to_string(max) + ", found " +
                   (node.kind == Kind::kInt    ? std::to_string(node.integer)
                    : node.kind == Kind::kUint ? std::to_string(node.natural)
                                               : KindName(node.kind)));
}

Result<std::int64_t> Value::Int() const {
  const Node& node = document_->tree_->nodes[index_];
  if (node.kind == Kind::kInt) return node.integer;
  return Complaint(std::string("expected a whole number of 64 bits with sign, found ") +
                   (node.kind == Kind::kUint ? std::to_string(node.natural) : KindName(node.kind)));
}

Result<double> Value::Double() const {
  const Node& node = document_->tree_->nodes[index_];
  if (node.kind == Kind::kDouble) return node.real;
  if (node.kind == Kind::kInt) return static_cast<double>(node.integer);
  if (node.kind == Kind::kUint) return static_cast<double>(node.natural);
  return Complaint(std::string("expected a number, found ") + KindName(node.kind));
}

Result<std::vector<Value>> Value::Array() const {
  const std::vector<Node>& nodes = document_->tree_->nodes;
  if (nodes[index_].kind != Kind::kArray) {
    return Complaint(std::string("expected an array, found ") + KindName(nodes[index_].kind));
  }
  std::vector<Value> items;
  for (std::size_t at = index_ + 1; at < nodes[index_].end; at = nodes[at].end) {
    items.push_back(Value(document_, at));
  }
  return items;
}

Result<std::vector<std::string>> Value::Strings() const {
  PLIMSOLL_TRY_ASSIGN(const std::vector<Value> items, Array());
  std::vector<std::string> strings;
  strings.reserve(items.size());
  for (const Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(const std::string_view text, item.String());
    strings.emplace_back(text);
  }
  return strings;
}

Result<std::vector<std::pair<std::string_view, Value>>> Value::Members() const {
  const Document::Tree& tree = *document_->tree_;
  if (tree.nodes[index_].kind != Kind::kObject) {
    return Complaint(std::string("expected an object, found ") + KindName(tree.nodes[index_].kind));
  }
  std::vector<std::pair<std::string_view, Value>> members;
  for (std::size_t at = index_ + 1; at < tree.nodes[index_].end; at = tree.nodes[at].end) {
    members.emplace_back(tree.View(tree.nodes[at].key), Value(document_, at));
  }
  return members;
}

Result<Value> Value::Member(std::string_view name) const {
  PLIMSOLL_TRY_ASSIGN(const auto members, Members());
  // From the back: of equal members, where they are allowed, the last one counts.
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->first == name) return member->second;
  }
  return Complaint("the member " + Quote(name, 64) + " is missing");
}

Result<std::optional<Value>> Value::Find(std::string_view name) const {
  PLIMSOLL_TRY_ASSIGN(const auto members, Members());
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->first != name) continue;
    if (member->second.IsNull()) break;
    return std::optional<Value>(member->second);
  }
  return std::optional<Value>();
}

Result<void> Value::OnlyMembers(std::initializer_list<std::string_view> names) const {
  PLIMSOLL_TRY_ASSIGN(const auto members, Members());
  for (const auto& [name, value] : members) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    Error error = value.Complaint("unknown member " + Quote(name, 64));
    error.hint = DidYouMean(name, std::vector<std::string_view>(names));
    return error;
  }
  return {};
}

}  // namespace plimsoll::json
