#include "image/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "json/reader.h"
#include "json/writer.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::size_t kMaxRecordBytes = std::size_t{8} << 20U;

// No name has a "+", so the file name tells the reference and nothing else.
std::string FileName(const oci::ImageReference& reference) {
  std::string name = reference.ToString();
  std::replace(name.begin(), name.end(), '/', '+');
  return "images/" + name;
}

Result<oci::Digest> DigestMember(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  return oci::ReadDigest(value);
}

Result<std::uint64_t> UintMember(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  return value.Uint();
}

Result<std::string> TextMember(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(name));
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  return std::string(text);
}

Result<std::vector<RecordedLayer>> ReadLayers(const json::Value& root) {
  PLIMSOLL_TRY_ASSIGN(const json::Value array, root.Member("layers"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> items, array.Array());
  std::vector<RecordedLayer> layers;
  for (const json::Value& item : items) {
    PLIMSOLL_TRY(item.OnlyMembers({"digest", "size", "diff_id"}));
    RecordedLayer layer;
    PLIMSOLL_TRY_ASSIGN(layer.digest, DigestMember(item, "digest"));
    PLIMSOLL_TRY_ASSIGN(layer.size, UintMember(item, "size"));
    PLIMSOLL_TRY_ASSIGN(layer.diff_id, DigestMember(item, "diff_id"));
    layers.push_back(layer);
  }
  return layers;
}

Result<std::optional<ImageRecord>> ReadRecordFile(int dir, const std::string& path) {
  const auto fd = sys::OpenAt(dir, path, O_RDONLY | O_NOFOLLOW);
  if (!fd && fd.error().sys_errno == ENOENT) return std::optional<ImageRecord>();
  if (!fd) return fd.error();
  PLIMSOLL_TRY_ASSIGN(std::string text, sys::ReadAll(fd->Get(), kMaxRecordBytes, path));
  PLIMSOLL_TRY_ASSIGN(ImageRecord record, ParseRecord(std::move(text), path));
  return std::optional<ImageRecord>(std::move(record));
}

// The record under any name with this pin, such as "@sha256:..."; the first by name.
Result<std::optional<ImageRecord>> ReadAnyWithPin(const std::string& store_path,
                                                  const std::string& pin) {
  const std::string folder = store_path + "/images";
  const auto images = sys::Open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!images && images.error().sys_errno == ENOENT) return std::optional<ImageRecord>();
  if (!images) return images.error();
  PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> files,
                      sys::ListDirectory(images->Get(), folder));
  for (const std::string& file : files) {
    if (file.ends_with(pin)) return ReadRecordFile(images->Get(), file);
  }
  return std::optional<ImageRecord>();
}

}  // namespace

std::string ImageRecord::Environment() const {
  return "oci-image:" + (index ? *index : manifest).ToString();
}

Result<ImageRecord> ParseRecord(std::string text, std::string name) {
  PLIMSOLL_TRY_ASSIGN(
      const json::Document document,
      json::Parse(std::move(text), std::move(name), {.bytes = kMaxRecordBytes, .depth = 8}));
  const json::Value root = document.Root();
  PLIMSOLL_TRY(root.OnlyMembers({"version", "name", "manifest", "index", "config_digest",
                                 "chain_id", "layers", "size", "imported", "source", "config"}));
  ImageRecord record;
  PLIMSOLL_TRY_ASSIGN(record.name, TextMember(root, "name"));
  PLIMSOLL_TRY_ASSIGN(record.manifest, DigestMember(root, "manifest"));
  PLIMSOLL_TRY_ASSIGN(const auto index, root.Find("index"));
  if (index) {
    PLIMSOLL_TRY_ASSIGN(record.index, oci::ReadDigest(*index));
  }
  PLIMSOLL_TRY_ASSIGN(record.config_digest, DigestMember(root, "config_digest"));
  PLIMSOLL_TRY_ASSIGN(record.chain_id, DigestMember(root, "chain_id"));
  PLIMSOLL_TRY_ASSIGN(record.layers, ReadLayers(root));
  PLIMSOLL_TRY_ASSIGN(record.size, UintMember(root, "size"));
  PLIMSOLL_TRY_ASSIGN(const json::Value imported, root.Member("imported"));
  PLIMSOLL_TRY_ASSIGN(record.imported, imported.Int());
  PLIMSOLL_TRY_ASSIGN(record.source, TextMember(root, "source"));
  PLIMSOLL_TRY_ASSIGN(const json::Value config, root.Member("config"));
  PLIMSOLL_TRY_ASSIGN(record.config, oci::ReadImageConfig(config));
  return record;
}

std::string FormatRecord(const ImageRecord& record) {
  json::Writer writer;
  writer.BeginObject().Member("version", 1).Member("name", record.name);
  writer.Member("manifest", record.manifest.ToString());
  writer.Key("index");
  if (record.index) {
    writer.String(record.index->ToString());
  } else {
    writer.Null();
  }
  writer.Member("config_digest", record.config_digest.ToString());
  writer.Member("chain_id", record.chain_id.ToString());
  writer.Key("layers").BeginArray();
  for (const RecordedLayer& layer : record.layers) {
    writer.BeginObject().Member("digest", layer.digest.ToString()).Member("size", layer.size);
    writer.Member("diff_id", layer.diff_id.ToString()).EndObject();
  }
  writer.EndArray().Member("size", record.size).Member("imported", record.imported);
  writer.Member("source", record.source).Key("config");
  oci::WriteImageConfig(writer, record.config);
  return writer.EndObject().Take() + "\n";
}

Result<std::optional<ImageRecord>> ReadRecord(const std::string& store_path,
                                              const oci::ImageReference& reference) {
  PLIMSOLL_TRY_ASSIGN(std::optional<ImageRecord> record,
                      ReadRecordFile(AT_FDCWD, store_path + "/" + FileName(reference)));
  if (record || !reference.name.empty()) return record;
  return ReadAnyWithPin(store_path, reference.ToString());
}

Result<void> WriteRecord(const Store& store, const WorkDirectory& work,
                         const oci::ImageReference& reference, ImageRecord record) {
  record.name = reference.ToString();
  const std::string from = work.Path() + "/record";
  const std::string to = FileName(reference);
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd,
                      sys::OpenAt(store.Root(), from, O_WRONLY | O_CREAT | O_EXCL, 0600));
  PLIMSOLL_TRY(sys::WriteAll(fd.Get(), FormatRecord(record), from));
  if (::fsync(fd.Get()) != 0) return sys::ErrnoError("fsync " + Quote(from));
  if (::renameat(store.Root(), from.c_str(), store.Root(), to.c_str()) != 0) {
    return sys::ErrnoError("rename " + Quote(from) + " to " + Quote(to));
  }
  return {};
}

Result<std::vector<ImageRecord>> ListRecords(const Store& store) {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd images,
                      sys::OpenAt(store.Root(), "images", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> files,
                      sys::ListDirectory(images.Get(), "images"));
  std::vector<ImageRecord> records;
  for (const std::string& file : files) {
    const auto fd = sys::OpenAt(images.Get(), file, O_RDONLY | O_NOFOLLOW);
    if (!fd && fd.error().sys_errno == ENOENT) continue;  // removed in between
    if (!fd) return fd.error();
    PLIMSOLL_TRY_ASSIGN(std::string text, sys::ReadAll(fd->Get(), kMaxRecordBytes, file));
    PLIMSOLL_TRY_ASSIGN(ImageRecord record, ParseRecord(std::move(text), "images/" + file));
    records.push_back(std::move(record));
  }
  std::sort(records.begin(), records.end(),
            [](const ImageRecord& a, const ImageRecord& b) { return a.name < b.name; });
  return records;
}

Result<void> RemoveRecord(const Store& store, const ImageRecord& record) {
  PLIMSOLL_TRY_ASSIGN(const oci::ImageReference reference, oci::ParseStoreName(record.name));
  const std::string path = FileName(reference);
  if (::unlinkat(store.Root(), path.c_str(), 0) != 0 && errno != ENOENT) {
    return sys::ErrnoError("unlink " + Quote(path));
  }
  return {};
}

}  // namespace plimsoll::image
