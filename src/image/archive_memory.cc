#include "image/archive_memory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>

#include "base/text.h"
#include "json/reader.h"
#include "json/writer.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr std::int64_t kSettledNanoseconds = 200'000'000;  // file systems tick at least this often

std::int64_t Nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::string FileName(const FileStamp& stamp, const Selection& selection) {
  return "archives/" + std::to_string(stamp.device) + "-" + std::to_string(stamp.inode) +
         (selection.digest ? "-" + selection.digest->Hex() : "");
}

Result<std::int64_t> IntMember(const json::Value& root, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, root.Member(name));
  return value.Int();
}

Result<RememberedArchive> Parse(std::string text, FileStamp& stamp) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document,
                      json::Parse(std::move(text), "archives", {.bytes = kMaxBytes}));
  const json::Value root = document.Root();
  PLIMSOLL_TRY_ASSIGN(stamp.size, IntMember(root, "size"));
  PLIMSOLL_TRY_ASSIGN(stamp.mtime_ns, IntMember(root, "mtime_ns"));
  PLIMSOLL_TRY_ASSIGN(stamp.ctime_ns, IntMember(root, "ctime_ns"));
  RememberedArchive archive;
  PLIMSOLL_TRY_ASSIGN(const json::Value manifest, root.Member("manifest"));
  PLIMSOLL_TRY_ASSIGN(archive.manifest, oci::ReadDigest(manifest));
  PLIMSOLL_TRY_ASSIGN(const auto index, root.Find("index"));
  if (index) {
    PLIMSOLL_TRY_ASSIGN(archive.index, oci::ReadDigest(*index));
  }
  return archive;
}

}  // namespace

Result<FileStamp> StampOf(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    Error error = sys::ErrnoError("open " + Quote(path));
    error.kind = ErrorKind::kEnvironment;
    return error;
  }
  return FileStamp{.device = status.st_dev,
                   .inode = status.st_ino,
                   .size = status.st_size,
                   .mtime_ns = Nanoseconds(status.st_mtim),
                   .ctime_ns = Nanoseconds(status.st_ctim)};
}

bool IsSettled(const FileStamp& stamp) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return stamp.ctime_ns < now_ns - kSettledNanoseconds;
}

std::optional<RememberedArchive> RecallArchive(const std::string& store_path,
                                               const FileStamp& stamp, const Selection& selection) {
  auto text = sys::ReadFile(store_path + "/" + FileName(stamp, selection), kMaxBytes);
  if (!text) return {};
  FileStamp then = {.device = stamp.device, .inode = stamp.inode};
  const auto archive = Parse(*std::move(text), then);
  if (!archive || then != stamp) return {};
  return *archive;
}

Result<void> RememberArchive(const Store& store, const WorkDirectory& work, const FileStamp& stamp,
                             const Selection& selection, const RememberedArchive& archive) {
  json::Writer writer;
  writer.BeginObject().Member("size", stamp.size).Member("mtime_ns", stamp.mtime_ns);
  writer.Member("ctime_ns", stamp.ctime_ns).Member("manifest", archive.manifest.ToString());
  if (archive.index) writer.Member("index", archive.index->ToString());
  writer.EndObject();
  const std::string from = work.Path() + "/archive";
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd,
                      sys::OpenAt(store.Root(), from, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  PLIMSOLL_TRY(sys::WriteAll(fd.Get(), writer.Text(), from));
  const std::string to = FileName(stamp, selection);
  if (::renameat(store.Root(), from.c_str(), store.Root(), to.c_str()) != 0) {
    return sys::ErrnoError("rename " + Quote(from) + " to " + Quote(to));
  }
  return {};
}

}  // namespace plimsoll::image
