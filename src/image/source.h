// Where an image is imported from: files by path, in a folder or in an archive.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "image/limits.h"
#include "image/progress.h"
#include "image/store.h"
#include "sys/unique_fd.h"

namespace plimsoll::image {

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  Source(Source&&) = delete;
  Source& operator=(Source&&) = delete;
  virtual ~Source() = default;

  // The regular file at `path`, for reading. Errors: kEnvironment when there is none.
  virtual Result<sys::UniqueFd> Open(const std::string& path) = 0;
  virtual bool Has(const std::string& path) = 0;
  // Puts the file at `to` in the directory `dir` of the store; afterwards it may be gone here.
  virtual Result<void> Take(const std::string& path, int dir, const std::string& to) = 0;

  // The whole of a small file. Errors: kCapacity above the limit.
  Result<std::string> Read(const std::string& path, const Limits& limits);
};

// An unpacked layout. Links inside the folder are not followed.
Result<std::unique_ptr<Source>> OpenFolder(const std::string& path);

// An archive: plain tar, gzip or zstd, told apart by content. Its regular files are written below
// `work`, which must outlive the source, and links to them count as the files themselves.
Result<std::unique_ptr<Source>> OpenArchive(const std::string& path, const WorkDirectory& work,
                                            const Limits& limits, const Progress& progress);

}  // namespace plimsoll::image
