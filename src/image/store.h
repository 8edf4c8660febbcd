// The local image store: where things lie on disk, and who may touch them when.
//
//   version                 the format, "1"
//   lock                    shared: whoever adds; exclusive: whoever removes
//   blobs/sha256/HEX        as they came
//   layers/HEX-of-DiffID/   rootfs (the unpacked tree), layer.json, owners.json
//   trees/HEX-of-ChainID/   rootfs (merged from the layers, with hard links), lock (shared: a run
//                           that uses the tree; exclusive: whoever removes it)
//   images/NAME             what a tag or a pin stands for
//   archives/NAME           which image an archive file held when it was last read
//   tmp/NAME/               work in progress, locked by its owner
//
// Everything appears by rename, complete or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "oci/digest.h"
#include "sys/unique_fd.h"

namespace plimsoll::image {

class Store {
 public:
  // Opens the store at `path`, made with mode 0700 when it is not there. Errors: kUnsupported when
  // its format is newer than this program.
  static Result<Store> Open(const std::string& path);

  const std::string& Path() const { return path_; }
  int Root() const { return root_.Get(); }

  // Waits until nobody removes anything, and keeps it so until the descriptor is closed.
  Result<sys::UniqueFd> LockShared() const;
  // Waits until nobody adds or removes anything.
  Result<sys::UniqueFd> LockExclusive() const;

  // Removes what killed processes left in tmp/. What has a living owner stays.
  Result<void> SweepTemporary() const;

 private:
  Store(std::string path, sys::UniqueFd root) : path_(std::move(path)), root_(std::move(root)) {}

  std::string path_;  // absolute
  sys::UniqueFd root_;
};

// True when tmp/ of the store at `path` has directories in it: leftovers, or work in progress. One
// system call, for those who have not opened the store. (A directory has one link for its name, one
// for its "." and one for each directory in it; file systems that do not count always say 1.)
bool HasTemporary(const std::string& path);

// Paths below the store's root.
std::string BlobPath(const oci::Digest& digest);
std::string LayerPath(const oci::Digest& diff_id);
std::string TreePath(const oci::Digest& chain_id);

// kUnsupported unless `text`, the content of the version file, is a format this program reads.
Result<void> CheckStoreVersion(std::string_view text);

// A directory below tmp/ that one process works in. It is removed with all that is in it by the
// destructor, or by the next process's SweepTemporary() when this one is killed.
class WorkDirectory {
 public:
  // Takes tmp/`name`, empty. Waits as long as another process has it: that one is making the very
  // same thing, so look for it again after this returns.
  static Result<WorkDirectory> Claim(const Store& store, const std::string& name);

  WorkDirectory(WorkDirectory&&) noexcept = default;
  WorkDirectory& operator=(WorkDirectory&&) = delete;
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  ~WorkDirectory();

  int Fd() const { return fd_.Get(); }
  std::string Path() const { return "tmp/" + name_; }  // below the store's root

 private:
  WorkDirectory(sys::UniqueFd temporary, std::string name, sys::UniqueFd fd)
      : temporary_(std::move(temporary)), name_(std::move(name)), fd_(std::move(fd)) {}

  sys::UniqueFd temporary_;  // tmp/
  std::string name_;
  sys::UniqueFd fd_;  // holds the lock
};

}  // namespace plimsoll::image
