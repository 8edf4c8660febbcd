// A bundle: a file with one signed line a run, which only grows.
//
// Appending is under a lock (flock(2)) and complete or not at all: a line that could not be written
// whole is taken back before the lock is let go. What a killed process left behind the last newline
// is cut off by the next one, which says so; nothing was ever reported of it.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "crypto/ed25519.h"
#include "record/line.h"
#include "sys/unique_fd.h"

namespace plimsoll::record {

struct Appended {
  std::uint64_t index = 0;       // of the line, from 1
  std::string line_sha256 = {};  // without its newline
  std::string record_sha256 = {};
  std::uint64_t torn_bytes = 0;  // that a killed process had left, and that were cut off
};

// A bundle open for appending.
class Bundle {
 public:
  // Opens the file, or makes it with mode 0600, without waiting for anybody. A link at the path's
  // end is followed. Errors: kHost; kRequest when it is no regular file.
  static Result<Bundle> Open(const std::string& path);

  // Signs the draft as the line behind the last one, and writes it; with `sync` it is on the disk
  // when this returns (fdatasync(2)). Errors: kHost; kProtocol when the file's last line is none of
  // a bundle. Then the file is as it was.
  Result<Appended> Append(const Draft& draft, const crypto::SigningKey& key, bool sync);

 private:
  Bundle(std::string path, sys::UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  struct End;
  Result<End> FindEnd();
  Result<void> Write(std::string_view line, std::uint64_t at);

  std::string path_;
  sys::UniqueFd file_;
};

}  // namespace plimsoll::record
