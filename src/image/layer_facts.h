// What a layer says that its unpacked files cannot: kept as a small JSON file beside them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace plimsoll::image {

// All paths are relative to the root, without "." and "..", any bytes but NUL.
struct LayerFacts {
  std::uint64_t entries = 0;           // in the tar
  std::uint64_t files = 0;             // regular files
  std::uint64_t bytes = 0;             // content of the regular files, with holes
  std::uint64_t devices = 0;           // device nodes and sockets, which were left out
  std::uint64_t set_ids = 0;           // files whose set-user-id or set-group-id bit was dropped
  std::uint64_t owners = 0;            // entries of another owner than 0:0, all given to the caller
  std::vector<std::string> whiteouts;  // what the layer removes from the layers below
  std::vector<std::string> opaque;     // directories that hide what is below
  std::vector<std::string> implied;    // directories without an entry of their own
  std::vector<std::pair<std::string, std::string>> links;  // hard links into a layer below: the
                                                           // new name, the existing one
};

std::string FormatLayerFacts(const LayerFacts& facts);
Result<LayerFacts> ParseLayerFacts(std::string text, std::string name);

// A path as JSON text: "%" and, when the path is not UTF-8, each byte above 0x7F as %XX. Undone
// by DecodePath.
std::string EncodePath(std::string_view path);
std::string DecodePath(std::string_view text);

}  // namespace plimsoll::image
