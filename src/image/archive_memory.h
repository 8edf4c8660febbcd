// Which image an archive file held when it was last read, so that it need not be read each time.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "image/resolve.h"
#include "image/store.h"
#include "oci/digest.h"

namespace plimsoll::image {

// A file at one moment: when none of this has changed, the content has not.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

// Errors: kEnvironment when there is no such file.
Result<FileStamp> StampOf(const std::string& path);

// True when the file was last changed so long ago that a change from now on must give it another
// time. A younger one could change within the same tick of the file system's clock, unseen.
bool IsSettled(const FileStamp& stamp);

struct RememberedArchive {
  oci::Digest manifest;
  std::optional<oci::Digest> index;
};

// What was remembered of a file with this very stamp and selection; nothing in any doubt.
std::optional<RememberedArchive> RecallArchive(const std::string& store_path,
                                               const FileStamp& stamp, const Selection& selection);
Result<void> RememberArchive(const Store& store, const WorkDirectory& work, const FileStamp& stamp,
                             const Selection& selection, const RememberedArchive& archive);

}  // namespace plimsoll::image
