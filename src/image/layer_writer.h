// Puts the entries of one layer into a directory of its own, beneath it whatever they say.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "image/layer_facts.h"
#include "image/limits.h"
#include "image/tar_reader.h"
#include "sys/unique_fd.h"

namespace plimsoll::image {

// Every entry's parent is opened beneath the root by the kernel, with symbolic links refused; the
// entry itself is made by *at calls that never follow. Later entries replace earlier ones of the
// same name. Devices and sockets are left out and counted, set-id bits, owners and extended
// attributes are dropped; what overlays need to know is in the facts.
class LayerWriter {
 public:
  // `root` is an empty directory and must outlive the writer.
  LayerWriter(int root, const Limits& limits) : root_(root), limits_(limits) {}

  // Adds the entry that `reader` stands on, with its content.
  //
  // Errors: kProtocol for names and links that lead out or through a link, kCapacity for the
  // limits; the text names the entry.
  Result<void> Add(const TarEntry& entry, TarReader& reader);

  // Sets the modes and times of directories, which would have stood in the way before.
  Result<LayerFacts> Finish();

  // Who owned what in the layer, as JSON: {"42:42":["path",...],...}; 0:0 is left out.
  std::string FormatOwners() const;

 private:
  struct Directory {
    std::uint32_t mode = 0755;
    std::int64_t mtime_seconds = 0;
    std::int64_t mtime_nanoseconds = 0;
    bool implied = true;  // it was needed as a parent and has no entry (yet)
  };
  // Where an entry goes: a name in an open directory.
  struct Place {
    int dir;
    std::string name;
  };

  Result<void> Count(const TarEntry& entry, const std::string& path);
  Result<bool> TakeWhiteout(const std::string& path);
  Result<void> Make(const TarEntry& entry, const std::string& path, TarReader& reader);
  Result<void> MakeFile(const TarEntry& entry, const std::string& path, TarReader& reader);
  Result<void> MakeDirectory(const TarEntry& entry, const std::string& path);
  Result<void> MakeSymlink(const TarEntry& entry, const std::string& path);
  Result<void> MakeHardlink(const TarEntry& entry, const std::string& path);
  Result<void> MakeFifo(const TarEntry& entry, const std::string& path);
  Result<void> WriteContent(const TarEntry& entry, int fd, TarReader& reader);
  // The entry's parent, made when it is missing; valid until the next call of it.
  Result<Place> PlaceOf(const std::string& path);
  Result<sys::UniqueFd> OpenDirectory(const std::string& path);
  // Removes what an earlier entry put at `path`.
  Result<void> Remove(const Place& place, const std::string& path);

  int root_;
  Limits limits_;
  LayerFacts facts_;
  std::uint64_t name_bytes_ = 0;
  std::string parent_path_;  // of parent_; meaningless while that is closed
  sys::UniqueFd parent_;  // the last entry's parent, kept since the next one is often its sibling
  std::map<std::string, Directory> directories_;  // by path
  std::map<std::string, std::string> links_;      // to layers below: new path, existing path
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>> owners_;
};

}  // namespace plimsoll::image
