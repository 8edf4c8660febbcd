// A blob read, hashed, decompressed and hashed again, by threads of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "image/inflate.h"
#include "oci/digest.h"

namespace plimsoll::image {

// Where a blob's bytes come from: a descriptor read from its current offset, or memory.
struct BlobSource {
  int fd = -1;  // -1: `bytes` is the blob
  std::string_view bytes = {};
  std::string name;  // for messages
};

struct BlobFacts {
  oci::Digest digest;      // of the blob as it is
  oci::Digest content;     // of the bytes after decompression: a layer's DiffID
  std::uint64_t size = 0;  // of the blob
  std::uint64_t content_size = 0;
  Compression compression = Compression::kNone;
};

// The plain bytes, block by block; empty at the end, and for ever after it.
using BlockSource = std::function<std::string_view()>;

// Runs `consume` on the calling thread over the plain bytes of `source`, while one thread reads and
// decompresses and two others hash what goes in and what comes out. What `consume` leaves unread is
// read and hashed all the same. Without `check` the format's own checksum is not looked at: for a
// caller who compares `content`. `on_read` (may be empty) hears from the reading thread how much of
// the blob was read so far.
//
// Errors: that of the stream (kProtocol for broken compression, kCapacity above `max_content`
// bytes, kHost for a failed read) before that of `consume`, which it usually caused.
Result<BlobFacts> ReadBlob(const BlobSource& source, std::uint64_t max_content,
                           const std::function<Result<void>(const BlockSource&)>& consume,
                           const std::function<void(std::uint64_t)>& on_read = {},
                           bool check = true);

// The digest of the blob as it is, or of what of it can be read before `stop` is true.
oci::Digest HashBlob(const BlobSource& source, const std::atomic<bool>& stop);

}  // namespace plimsoll::image
