// The lines of a bundle, a batch at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "sys/unique_fd.h"

namespace plimsoll::record {

class LineReader {
 public:
  // The file as long as it is now: waits until no run is in the middle of appending, and leaves out
  // what is appended later. Errors: kHost.
  static Result<LineReader> Open(const std::string& path);

  // The next lines without their newlines, some MiB of them; none at the end. Errors: kProtocol for
  // a last line without a newline and for one that is too long; kHost.
  Result<std::vector<std::string>> Next();

 private:
  LineReader(sys::UniqueFd file, std::uint64_t size, std::string path)
      : file_(std::move(file)), left_(size), path_(std::move(path)) {}

  Result<void> Fill();

  sys::UniqueFd file_;
  std::uint64_t left_;
  std::string path_;
  std::string rest_;  // the beginning of a line whose end is not read yet
};

struct NumberedLine {
  std::uint64_t number = 0;  // from 1
  std::string text;
};

// One line of a bundle; the last one unless `number` says which. Errors: kRequest when there is no
// such line; those of LineReader.
Result<NumberedLine> FindLine(const std::string& path, std::optional<std::uint64_t> number);

}  // namespace plimsoll::record
