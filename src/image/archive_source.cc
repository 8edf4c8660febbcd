// An archive as a Source: read once from front to back, its files kept in the work directory.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>

#include "base/text.h"
#include "base/units.h"
#include "image/blob_stream.h"
#include "image/entry_path.h"
#include "image/source.h"
#include "image/tar_reader.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

// A link in the archive may point to a link; docker save writes at most one.
constexpr int kMaxLinks = 4;

class Archive : public Source {
 public:
  Archive(std::string path, const WorkDirectory& work, const Limits& limits)
      : path_(std::move(path)), work_(work), limits_(limits) {}

  Result<void> Load(const Progress& progress) {
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd, OpenFile());
    PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::Stat(fd.Get(), path_));
    if (::mkdirat(work_.Fd(), "files", 0700) != 0) return sys::ErrnoError("mkdir 'files'");
    PLIMSOLL_TRY_ASSIGN(files_, sys::OpenAt(work_.Fd(), "files", O_RDONLY | O_DIRECTORY));
    Step step = {.what = "read archive " + Quote(path_),
                 .total = static_cast<std::uint64_t>(status.st_size)};
    const auto on_read = [&](std::uint64_t done) {
      step.done = done;
      if (progress) progress(step);
    };
    const auto write = [&](const BlockSource& blocks) { return ReadEntries(blocks); };
    auto read = ReadBlob({.fd = fd.Get(), .name = path_}, limits_.archive_bytes, write, on_read);
    if (!read) return std::move(read).error().In("archive " + Quote(path_));
    return {};
  }

  Result<sys::UniqueFd> Open(const std::string& path) override {
    PLIMSOLL_TRY_ASSIGN(const std::string name, Find(path));
    return sys::OpenAt(files_.Get(), name, O_RDONLY | O_NOFOLLOW);
  }

  bool Has(const std::string& path) override { return Find(path).has_value(); }

  Result<void> Take(const std::string& path, int dir, const std::string& to) override {
    PLIMSOLL_TRY_ASSIGN(const std::string name, Find(path));
    // Linked, not moved: several paths may be the same file, and several images may share it.
    if (::linkat(files_.Get(), name.c_str(), dir, to.c_str(), 0) != 0) {
      return sys::ErrnoError("link " + Quote(path));
    }
    return {};
  }

 private:
  // A fifo as an archive would block us for ever.
  Result<sys::UniqueFd> OpenFile() const {
    auto fd = sys::Open(path_, O_RDONLY | O_NONBLOCK);
    if (!fd) {
      Error error = std::move(fd).error();
      error.kind = ErrorKind::kEnvironment;
      return error;
    }
    PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::Stat(fd->Get(), path_));
    if (S_ISREG(status.st_mode)) return fd;
    return Error{.kind = ErrorKind::kEnvironment, .what = Quote(path_) + " is no regular file"};
  }

  Result<void> ReadEntries(const BlockSource& blocks) {
    PLIMSOLL_TRY_ASSIGN(const std::unique_ptr<TarReader> reader, TarReader::Open(blocks));
    TarEntry entry;
    for (std::uint64_t count = 0;; ++count) {
      PLIMSOLL_TRY_ASSIGN(const bool more, reader->Next(entry));
      if (!more) return {};
      if (count == limits_.archive_entries) {
        return Error{.kind = ErrorKind::kCapacity,
                     .what = "has more than " + std::to_string(count) + " entries"};
      }
      PLIMSOLL_TRY_ASSIGN(const std::string path, CleanEntryPath(entry.path, limits_));
      if (entry.type == EntryType::kFile) {
        PLIMSOLL_TRY(Keep(*reader, path));
      } else if (entry.type == EntryType::kHardlink) {
        PLIMSOLL_TRY_ASSIGN(links_[path], CleanEntryPath(entry.link, limits_));
      } else if (entry.type == EntryType::kSymlink) {
        KeepSymlink(path, entry.link);
      }
    }
  }

  // The names in the work directory are numbers: nothing of the archive becomes a path of ours.
  Result<void> Keep(TarReader& reader, const std::string& path) {
    const std::string name = std::to_string(kept_++);
    links_.erase(path);
    names_[path] = name;
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd,
                        sys::OpenAt(files_.Get(), name, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    TarReader::Data data;
    for (std::uint64_t end = 0;;) {
      PLIMSOLL_TRY_ASSIGN(const bool more, reader.NextData(data));
      if (!more) return {};
      if (data.offset != end) {
        return Error{.kind = ErrorKind::kUnsupported,
                     .what = "entry " + Quote(path) + " is a sparse file"};
      }
      PLIMSOLL_TRY(sys::WriteAll(fd.Get(), data.bytes, path));
      end += data.bytes.size();
    }
  }

  // Old versions of docker save write a layer that comes twice as "../OTHER/layer.tar". Only such
  // a target, one directory up, is understood; a file behind any other is missing when asked for.
  void KeepSymlink(const std::string& path, const std::string& target) {
    constexpr std::string_view kUp = "../";
    const std::string_view parent = ParentOf(path);
    if (target.substr(0, kUp.size()) != kUp || parent.empty()) return;
    const auto clean =
        CleanEntryPath(std::string(ParentOf(parent)) + "/" + target.substr(kUp.size()), limits_);
    if (clean) links_[path] = *clean;
  }

  Result<std::string> Find(const std::string& path) const {
    PLIMSOLL_TRY_ASSIGN(std::string at, CleanEntryPath(path, limits_));
    for (int hop = 0; hop <= kMaxLinks; ++hop) {
      const auto name = names_.find(at);
      if (name != names_.end()) return name->second;
      const auto link = links_.find(at);
      if (link == links_.end()) break;
      at = link->second;
    }
    return Error{.kind = ErrorKind::kEnvironment,
                 .what = "archive " + Quote(path_) + " has no file " + Quote(path)};
  }

  std::string path_;
  const WorkDirectory& work_;
  Limits limits_;
  sys::UniqueFd files_;
  std::uint64_t kept_ = 0;                    // files written so far
  std::map<std::string, std::string> names_;  // by path in the archive
  std::map<std::string, std::string> links_;  // path in the archive, another such path
};

}  // namespace

Result<std::unique_ptr<Source>> OpenArchive(const std::string& path, const WorkDirectory& work,
                                            const Limits& limits, const Progress& progress) {
  auto archive = std::make_unique<Archive>(path, work, limits);
  PLIMSOLL_TRY(archive->Load(progress));
  return std::unique_ptr<Source>(std::move(archive));
}

}  // namespace plimsoll::image
