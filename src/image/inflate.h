// Decompression of a stream: gzip, zstd, or none, told apart by the first bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/error.h"

namespace plimsoll::image {

enum class Compression { kNone, kGzip, kZstd };

// By the magic number at the start of a stream; what is neither gzip nor zstd is kNone.
Compression DetectCompression(std::string_view first_bytes);
std::string_view CompressionName(Compression compression);  // "none", "gzip", "zstd"

// Turns compressed bytes into plain ones, block by block. Several gzip members or zstd frames in a
// row are one stream, as the formats have it.
class Inflater {
 public:
  // Without `check` gzip's own CRC-32 is not looked at, which saves a tenth of the time: for a
  // caller who compares the SHA-256 of what comes out.
  static Result<std::unique_ptr<Inflater>> Make(Compression compression, bool check = true);
  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;
  virtual ~Inflater() = default;

  // Reads from the front of `input`, which is shortened, into `output`. Returns the number of bytes
  // written; 0 means that more input is needed. Errors: kProtocol.
  virtual Result<std::size_t> Step(std::string_view& input, char* output, std::size_t size) = 0;
  // After the last input: kProtocol when the stream stops in the middle.
  virtual Result<void> Finish() = 0;
};

}  // namespace plimsoll::image
