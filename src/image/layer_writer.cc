#include "image/layer_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.h"
#include "base/units.h"
#include "image/entry_path.h"
#include "image/link_or_copy.h"
#include "json/writer.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::uint64_t kResolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kWhiteoutMeta = ".wh..wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";

std::array<timespec, 2> Times(std::int64_t seconds, std::int64_t nanoseconds) {
  const bool valid = nanoseconds >= 0 && nanoseconds < 1'000'000'000;
  return {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
          timespec{.tv_sec = seconds, .tv_nsec = valid ? nanoseconds : 0}};
}

// The kernel's refusal to leave the root, in words of the archive.
Error PathError(Error error, const std::string& path) {
  if (error.sys_errno == ELOOP || error.sys_errno == EXDEV || error.sys_errno == ENOTDIR) {
    const bool link = error.sys_errno != ENOTDIR;
    return Error{.kind = ErrorKind::kProtocol,
                 .what = Quote(path) + (link ? " leads through a symbolic link of the layer"
                                             : " lies beneath what is no directory")};
  }
  return error;
}

}  // namespace

Result<void> LayerWriter::Add(const TarEntry& entry, TarReader& reader) {
  PLIMSOLL_TRY_ASSIGN(const std::string path, CleanEntryPath(entry.path, limits_));
  PLIMSOLL_TRY(Count(entry, path));
  PLIMSOLL_TRY_ASSIGN(const bool whiteout, TakeWhiteout(path));
  if (whiteout) return {};
  if (entry.type == EntryType::kDevice || entry.type == EntryType::kOther) {
    ++facts_.devices;
    return {};
  }
  if (path.empty() && entry.type != EntryType::kDirectory) {
    return Error{.kind = ErrorKind::kProtocol, .what = "the root is no directory"};
  }
  auto made = Make(entry, path, reader);
  if (!made) return std::move(made).error().In("entry " + Quote(entry.path));
  if (entry.uid != 0 || entry.gid != 0) {
    ++facts_.owners;
    owners_[{entry.uid, entry.gid}].push_back(path);
  }
  return {};
}

Result<void> LayerWriter::Count(const TarEntry& entry, const std::string& path) {
  name_bytes_ += path.size() + entry.link.size();
  if (++facts_.entries > limits_.layer_entries) {
    return Error{.kind = ErrorKind::kCapacity,
                 .what = "has more than " + std::to_string(limits_.layer_entries) + " entries"};
  }
  if (name_bytes_ > limits_.layer_name_bytes) {
    return Error{.kind = ErrorKind::kCapacity,
                 .what = "has more than " + FormatBytes(limits_.layer_name_bytes) + " of names"};
  }
  if (entry.type != EntryType::kFile) return {};
  // Compared before it is added: a hostile size must not wrap around.
  if (entry.size > limits_.layer_bytes || facts_.bytes + entry.size > limits_.layer_bytes) {
    return Error{.kind = ErrorKind::kCapacity,
                 .what = "entry " + Quote(entry.path) + " makes the files larger than " +
                         FormatBytes(limits_.layer_bytes)};
  }
  facts_.bytes += entry.size;
  return {};
}

// OCI image specification, layer.md, "Whiteouts".
Result<bool> LayerWriter::TakeWhiteout(const std::string& path) {
  if (path.find(kWhiteout) == std::string::npos) return false;
  for (std::string_view parent = ParentOf(path); !parent.empty(); parent = ParentOf(parent)) {
    // aufs kept its own files in such directories; docker skips them as well.
    if (NameOf(parent).substr(0, kWhiteoutMeta.size()) == kWhiteoutMeta) return true;
  }
  const std::string_view name = NameOf(path);
  if (name == kOpaque) {
    const std::string directory(ParentOf(path));
    PLIMSOLL_TRY(OpenDirectory(directory));
    facts_.opaque.push_back(directory);
    return true;
  }
  if (name.substr(0, kWhiteoutMeta.size()) == kWhiteoutMeta) return true;
  if (name.substr(0, kWhiteout.size()) != kWhiteout) return false;
  const std::string_view hidden = name.substr(kWhiteout.size());
  if (hidden.empty() || hidden == "." || hidden == "..") {
    return Error{.kind = ErrorKind::kProtocol,
                 .what = "whiteout " + Quote(path) + " hides no name"};
  }
  const std::string_view parent = ParentOf(path);
  facts_.whiteouts.push_back(std::string(parent) + (parent.empty() ? "" : "/") +
                             std::string(hidden));
  return true;
}

Result<void> LayerWriter::Make(const TarEntry& entry, const std::string& path, TarReader& reader) {
  if (!links_.empty()) links_.erase(path);
  switch (entry.type) {
    case EntryType::kFile:
      return MakeFile(entry, path, reader);
    case EntryType::kDirectory:
      return MakeDirectory(entry, path);
    case EntryType::kSymlink:
      return MakeSymlink(entry, path);
    case EntryType::kHardlink:
      return MakeHardlink(entry, path);
    case EntryType::kFifo:
      return MakeFifo(entry, path);
    case EntryType::kDevice:
    case EntryType::kOther:
      break;
  }
  return {};
}

Result<void> LayerWriter::MakeFile(const TarEntry& entry, const std::string& path,
                                   TarReader& reader) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  PLIMSOLL_TRY_ASSIGN(const Place place, PlaceOf(path));
  auto fd = sys::OpenAt(place.dir, place.name, kFlags, 0600);
  if (!fd && fd.error().sys_errno == EEXIST) {
    PLIMSOLL_TRY(Remove(place, path));
    fd = sys::OpenAt(place.dir, place.name, kFlags, 0600);
  }
  if (!fd) return std::move(fd).error();
  PLIMSOLL_TRY(WriteContent(entry, fd->Get(), reader));
  if ((entry.mode & 06000U) != 0) ++facts_.set_ids;
  ++facts_.files;
  const auto times = Times(entry.mtime_seconds, entry.mtime_nanoseconds);
  if (::fchmod(fd->Get(), (entry.mode & 0777U) | kFileModeAlways) != 0 ||
      ::futimens(fd->Get(), times.data()) != 0) {
    return sys::ErrnoError("set the mode and time of " + Quote(path));
  }
  return {};
}

Result<void> LayerWriter::WriteContent(const TarEntry& entry, int fd, TarReader& reader) {
  TarReader::Data data;
  std::uint64_t end = 0;
  for (;;) {
    PLIMSOLL_TRY_ASSIGN(const bool more, reader.NextData(data));
    if (!more) break;
    while (!data.bytes.empty()) {
      const ssize_t count =
          ::pwrite(fd, data.bytes.data(), data.bytes.size(), static_cast<off_t>(data.offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return sys::ErrnoError("write " + Quote(entry.path));
      data.bytes.remove_prefix(static_cast<std::size_t>(count));
      data.offset += static_cast<std::uint64_t>(count);
    }
    end = data.offset;
  }
  // A hole at the end has no data.
  if (end < entry.size && ::ftruncate(fd, static_cast<off_t>(entry.size)) != 0) {
    return sys::ErrnoError("set the size of " + Quote(entry.path));
  }
  return {};
}

Result<void> LayerWriter::MakeDirectory(const TarEntry& entry, const std::string& path) {
  if (!path.empty()) {
    PLIMSOLL_TRY_ASSIGN(const Place place, PlaceOf(path));
    if (::mkdirat(place.dir, place.name.c_str(), 0700) != 0) {
      if (errno != EEXIST) return sys::ErrnoError("mkdir " + Quote(path));
      PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::StatAt(place.dir, place.name));
      if (!S_ISDIR(status.st_mode)) {
        PLIMSOLL_TRY(Remove(place, path));
        if (::mkdirat(place.dir, place.name.c_str(), 0700) != 0) {
          return sys::ErrnoError("mkdir " + Quote(path));
        }
      }
    }
  }
  directories_[path] = {.mode = (entry.mode & 01777U) | kDirectoryModeAlways,
                        .mtime_seconds = entry.mtime_seconds,
                        .mtime_nanoseconds = entry.mtime_nanoseconds,
                        .implied = false};
  return {};
}

Result<void> LayerWriter::MakeSymlink(const TarEntry& entry, const std::string& path) {
  PLIMSOLL_TRY_ASSIGN(const Place place, PlaceOf(path));
  if (entry.link.empty() || entry.link.size() > limits_.path_bytes) {
    return Error{.kind = ErrorKind::kProtocol, .what = "the link's target is empty or too long"};
  }
  int made = ::symlinkat(entry.link.c_str(), place.dir, place.name.c_str());
  if (made != 0 && errno == EEXIST) {
    PLIMSOLL_TRY(Remove(place, path));
    made = ::symlinkat(entry.link.c_str(), place.dir, place.name.c_str());
  }
  const auto times = Times(entry.mtime_seconds, entry.mtime_nanoseconds);
  if (made != 0 ||
      ::utimensat(place.dir, place.name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) {
    return sys::ErrnoError("symlink " + Quote(path));
  }
  return {};
}

Result<void> LayerWriter::MakeFifo(const TarEntry& entry, const std::string& path) {
  PLIMSOLL_TRY_ASSIGN(const Place place, PlaceOf(path));
  int made = ::mkfifoat(place.dir, place.name.c_str(), 0600);
  if (made != 0 && errno == EEXIST) {
    PLIMSOLL_TRY(Remove(place, path));
    made = ::mkfifoat(place.dir, place.name.c_str(), 0600);
  }
  // fchmodat follows no link here: the name was made just now, and the directory is ours alone.
  if (made != 0 ||
      ::fchmodat(place.dir, place.name.c_str(), (entry.mode & 0777U) | kFileModeAlways, 0) != 0) {
    return sys::ErrnoError("mkfifo " + Quote(path));
  }
  return {};
}

Result<void> LayerWriter::MakeHardlink(const TarEntry& entry, const std::string& path) {
  PLIMSOLL_TRY_ASSIGN(const std::string target, CleanEntryPath(entry.link, limits_));
  if (target == path) return {};
  if (target.empty()) {
    return Error{.kind = ErrorKind::kProtocol, .what = "it is a hard link to the root"};
  }
  const std::string target_parent(ParentOf(target));
  auto dir = sys::OpenBeneath(root_, target_parent.empty() ? "." : target_parent,
                              O_PATH | O_DIRECTORY, kResolve);
  if (!dir && dir.error().sys_errno != ENOENT) {
    return PathError(std::move(dir).error(), target);
  }
  const std::string target_name(NameOf(target));
  Result<struct stat> status = dir ? sys::StatAt(dir->Get(), target_name) : dir.error();
  if (status && S_ISDIR(status->st_mode)) {
    return Error{.kind = ErrorKind::kProtocol, .what = "it is a hard link to a directory"};
  }
  PLIMSOLL_TRY_ASSIGN(const Place place, PlaceOf(path));
  if (!status) {
    // To a layer below, or to nothing: the merge will see. Through another such link, if it is one.
    const auto link = links_.find(target);
    links_[path] = link == links_.end() ? target : link->second;
    return {};
  }
  auto linked = LinkOrCopy({dir->Get(), target_name}, {place.dir, place.name});
  if (!linked && linked.error().sys_errno == EEXIST) {
    PLIMSOLL_TRY(Remove(place, path));
    linked = LinkOrCopy({dir->Get(), target_name}, {place.dir, place.name});
  }
  return linked;
}

Result<LayerWriter::Place> LayerWriter::PlaceOf(const std::string& path) {
  const std::string_view parent = ParentOf(path);
  if (parent.empty()) return Place{.dir = root_, .name = path};
  if (!parent_.IsOpen() || parent_path_ != parent) {
    parent_.Reset();
    PLIMSOLL_TRY_ASSIGN(parent_, OpenDirectory(std::string(parent)));
    parent_path_ = parent;
  }
  return Place{.dir = parent_.Get(), .name = std::string(NameOf(path))};
}

Result<sys::UniqueFd> LayerWriter::OpenDirectory(const std::string& path) {
  const std::string name = path.empty() ? "." : path;
  auto dir = sys::OpenBeneath(root_, name, O_PATH | O_DIRECTORY, kResolve);
  if (dir) return dir;
  if (dir.error().sys_errno != ENOENT) return PathError(std::move(dir).error(), path);
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd parent, OpenDirectory(std::string(ParentOf(path))));
  if (::mkdirat(parent.Get(), std::string(NameOf(path)).c_str(), 0700) != 0) {
    return sys::ErrnoError("mkdir " + Quote(path));
  }
  links_.erase(path);  // a link to a layer below, in whose place this comes
  directories_[path] = {};
  dir = sys::OpenBeneath(root_, name, O_PATH | O_DIRECTORY, kResolve);
  if (!dir) return PathError(std::move(dir).error(), path);
  return dir;
}

Result<void> LayerWriter::Remove(const Place& place, const std::string& path) {
  PLIMSOLL_TRY(sys::RemoveTree(place.dir, place.name));
  // The caller still uses `place`, which may be this very descriptor; so only when it was removed.
  if (parent_path_ == path || parent_path_.starts_with(path + "/")) parent_.Reset();
  // What was beneath is gone as well: "/" + 1 is "0", so this is the range of all "path/...".
  directories_.erase(path);
  directories_.erase(directories_.lower_bound(path + "/"), directories_.lower_bound(path + "0"));
  links_.erase(links_.lower_bound(path + "/"), links_.lower_bound(path + "0"));
  return {};
}

Result<LayerFacts> LayerWriter::Finish() {
  parent_.Reset();
  directories_[""].mode = 0755;  // the guest's user must get in, whoever that is on the host
  directories_[""].implied = false;
  // Backwards, children come before their parents.
  for (auto it = directories_.rbegin(); it != directories_.rend(); ++it) {
    const auto& [path, directory] = *it;
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd, sys::OpenBeneath(root_, path.empty() ? "." : path,
                                                                 O_RDONLY | O_DIRECTORY, kResolve));
    const auto times = Times(directory.mtime_seconds, directory.mtime_nanoseconds);
    if (::fchmod(fd.Get(), directory.mode) != 0 || ::futimens(fd.Get(), times.data()) != 0) {
      return sys::ErrnoError("set the mode and time of " + Quote(path));
    }
    if (directory.implied) facts_.implied.push_back(path);
  }
  facts_.links.assign(links_.begin(), links_.end());
  return facts_;
}

std::string LayerWriter::FormatOwners() const {
  json::Writer writer(json::Writer::Style::kIndented);
  writer.BeginObject();
  for (const auto& [owner, paths] : owners_) {
    writer.Key(std::to_string(owner.first) + ":" + std::to_string(owner.second)).BeginArray();
    for (const std::string& path : paths)
      writer.String(EncodePath(path));
    writer.EndArray();
  }
  return writer.EndObject().Take() + "\n";
}

}  // namespace plimsoll::image
