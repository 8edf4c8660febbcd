// What a Document holds: the values in the order of the text, and the events that make them.
//
// Private to json/. The values lie in one vector, each behind its parent, so that a document costs
// three allocations whatever its size. Offsets into the text are not kept; when an error needs one,
// the text is parsed again byte by byte up to that value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/reader.h"

namespace plimsoll::json {

struct Slice {
  std::size_t at = 0;
  std::size_t size = 0;
};

struct Node {
  Kind kind = Kind::kNull;
  std::size_t parent = 0;  // index of the array or object around it; itself for the root
  std::size_t end = 0;     // index behind the last value inside it
  Slice key;               // in an object: the member's name, in `texts`
  Slice text;              // kString: in `texts`
  union {
    bool boolean;
    std::int64_t integer;
    std::uint64_t natural;
    double real = 0;
  };
};

struct Document::Tree {
  std::string name;   // of the document, for messages
  std::string text;   // as it was given
  std::string texts;  // all keys and strings, decoded
  std::vector<Node> nodes;
  ReadLimits limits;

  // Where in `text` the value begins.
  std::size_t OffsetOf(std::size_t index) const;

  std::string_view View(Slice slice) const {
    return std::string_view(texts).substr(slice.at, slice.size);
  }
};

}  // namespace plimsoll::json
