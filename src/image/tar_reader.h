// Entries of a tar stream. The only file that knows libarchive; it writes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "image/blob_stream.h"

namespace plimsoll::image {

enum class EntryType { kFile, kDirectory, kSymlink, kHardlink, kFifo, kDevice, kOther };

struct TarEntry {
  EntryType type = EntryType::kOther;
  std::string path;        // as the archive has it, any bytes but NUL
  std::string link;        // kSymlink: the target's text; kHardlink: the path of the other entry
  std::uint32_t mode = 0;  // permissions with set-id and sticky bits
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  std::int64_t mtime_seconds = 0;
  std::int64_t mtime_nanoseconds = 0;
  std::uint64_t size = 0;  // kFile: with holes
};

// Reads plain tar: ustar, pax and GNU, with long names and sparse files.
class TarReader {
 public:
  // `source` must outlive the reader.
  static Result<std::unique_ptr<TarReader>> Open(const BlockSource& source);
  TarReader() = default;
  TarReader(const TarReader&) = delete;
  TarReader& operator=(const TarReader&) = delete;
  TarReader(TarReader&&) = delete;
  TarReader& operator=(TarReader&&) = delete;
  virtual ~TarReader() = default;

  // Moves to the next entry. False at the end. Errors: kProtocol for what is no tar.
  virtual Result<bool> Next(TarEntry& entry) = 0;

  struct Data {
    std::string_view bytes;    // valid until the next call
    std::uint64_t offset = 0;  // in the file; what lies between two pieces is a hole
  };
  // The next piece of the entry's content. False at its end.
  virtual Result<bool> NextData(Data& data) = 0;
};

}  // namespace plimsoll::image
