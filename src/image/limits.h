// What an image may cost before it is refused. Everything in it comes from outside.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plimsoll::image {

struct Limits {
  std::uint64_t layer_bytes = std::uint64_t{32} << 30U;  // of one layer's tar, uncompressed; holes
                                                         // of sparse files count
  std::uint64_t layer_entries = 2'000'000;
  std::uint64_t layer_name_bytes = std::uint64_t{256} << 20U;  // of all its entries' names
  std::uint64_t archive_bytes = std::uint64_t{64} << 30U;      // of a whole archive, uncompressed
  std::uint64_t archive_entries = 10'000;
  std::size_t path_bytes = 4095;  // of an entry's name or a link's target
  std::size_t path_depth = 256;   // components of an entry's name
  std::size_t link_depth = 128;  // of a directory that a layer's parent directory leads to by links
                                 // of the layers below: no tree is deeper than both together
  std::size_t document_bytes = std::size_t{4} << 20U;  // of an index, a manifest or a configuration
};

}  // namespace plimsoll::image
