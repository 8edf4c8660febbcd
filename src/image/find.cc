#include "image/find.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "image/archive_memory.h"
#include "oci/manifest.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

using Transport = oci::ImageReference::Transport;

oci::ImageReference Pin(const oci::Digest& manifest) {
  oci::ImageReference pin;
  pin.digest = manifest;
  return pin;
}

// The record of a digest that was found in a source, under whatever name the store has it: the
// index is that of the source, whatever other source the store has the same manifest from.
Result<std::optional<ImageRecord>> ReadPinned(const std::string& store_path,
                                              const RememberedArchive& found) {
  PLIMSOLL_TRY_ASSIGN(std::optional<ImageRecord> record,
                      ReadRecord(store_path, Pin(found.manifest)));
  if (record) record->index = found.index;
  return record;
}

Result<ImageRecord> ImportOne(const Store& store, const oci::ImageReference& reference,
                              const Selection& selection, const ImportOptions& options) {
  PLIMSOLL_TRY_ASSIGN(Imported imported, ImportImages(store,
                                                      {.source = reference.ToString(),
                                                       .path = reference.path,
                                                       .selection = selection,
                                                       .name = {},
                                                       .unnamed = true},
                                                      options));
  return std::move(imported.records.front());
}

Result<ImageRecord> FindLayout(const std::string& store_path, const oci::ImageReference& reference,
                               const ImportOptions& options) {
  const Selection selection = {.tag = reference.tag, .digest = reference.digest};
  PLIMSOLL_TRY_ASSIGN(const std::unique_ptr<Source> source, OpenFolder(reference.path));
  PLIMSOLL_TRY_ASSIGN(const std::vector<FoundImage> images,
                      FindImages(*source, selection, options.limits));
  if (images.size() == 1) {
    PLIMSOLL_TRY_ASSIGN(
        std::optional<ImageRecord> record,
        ReadPinned(store_path, {.manifest = images[0].manifest, .index = images[0].index}));
    if (record) return *std::move(record);
  }
  PLIMSOLL_TRY_ASSIGN(const Store store, Store::Open(store_path));
  return ImportOne(store, reference, selection, options);  // which refuses several images
}

Result<ImageRecord> FindArchive(const std::string& store_path, const oci::ImageReference& reference,
                                const ImportOptions& options) {
  const Selection selection = {.tag = {}, .digest = reference.digest};
  PLIMSOLL_TRY_ASSIGN(const FileStamp stamp, StampOf(reference.path));
  if (const auto known = RecallArchive(store_path, stamp, selection)) {
    PLIMSOLL_TRY_ASSIGN(std::optional<ImageRecord> record, ReadPinned(store_path, *known));
    if (record) return *std::move(record);
  }
  const bool settled = IsSettled(stamp);  // before it is read
  PLIMSOLL_TRY_ASSIGN(const Store store, Store::Open(store_path));
  PLIMSOLL_TRY_ASSIGN(ImageRecord record, ImportOne(store, reference, selection, options));
  PLIMSOLL_TRY_ASSIGN(const FileStamp after, StampOf(reference.path));
  if (settled && after == stamp) {
    PLIMSOLL_TRY_ASSIGN(const WorkDirectory work,
                        WorkDirectory::Claim(store, "archive-" + std::to_string(::getpid())));
    PLIMSOLL_TRY(RememberArchive(store, work, stamp, selection,
                                 {.manifest = record.manifest, .index = record.index}));
  }
  return record;
}

// A digest that an index of this name has, but for another platform, is told apart from one that
// nobody knows.
Result<void> RefuseOtherPlatform(const Store& store, const std::vector<ImageRecord>& records,
                                 const oci::ImageReference& reference) {
  for (const ImageRecord& record : records) {
    if (!record.index || !reference.digest) continue;
    const auto blob = sys::OpenAt(store.Root(), BlobPath(*record.index), O_RDONLY | O_NOFOLLOW);
    if (!blob) continue;
    PLIMSOLL_TRY_ASSIGN(std::string text,
                        sys::ReadAll(blob->Get(), Limits{}.document_bytes, "index"));
    PLIMSOLL_TRY_ASSIGN(const oci::ImageIndex index,
                        oci::ParseImageIndex(std::move(text), record.index->ToString()));
    for (const oci::Descriptor& manifest : index.manifests) {
      if (manifest.digest != *reference.digest || !manifest.platform) continue;
      return Error{.kind = ErrorKind::kEnvironment,
                   .what = "image " + Quote(reference.ToString()) + " is for " +
                           manifest.platform->ToString() + ", this machine runs " +
                           OwnPlatform().ToString() + "; its index " + record.index->ToString() +
                           ": " + DescribePlatforms(index.manifests)};
    }
  }
  return {};
}

Error Unknown(const std::vector<ImageRecord>& records, const oci::ImageReference& reference) {
  const std::string wanted = reference.ToString();
  std::vector<std::string_view> names;
  std::string tags;
  for (const ImageRecord& record : records) {
    names.push_back(record.name);
    const auto other = oci::ParseStoreName(record.name);
    if (other && other->name == reference.name && !other->tag.empty()) {
      tags += (tags.empty() ? "" : ", ") + other->tag;
    }
  }
  Error error{.kind = ErrorKind::kEnvironment,
              .what = "the store has no image " + Quote(wanted),
              .hint = DidYouMean(wanted, names)};
  if (!error.hint.empty()) {
    error.hint += " ";
  } else if (!tags.empty()) {
    error.hint = "it has " + Quote(reference.name) + " with the tags " + tags + "; ";
  }
  error.hint += "'plimsoll image ls' lists what is there, 'plimsoll image import SRC --name " +
                (reference.name.empty() ? "NAME" : reference.name) + "' brings one in";
  return error;
}

Result<ImageRecord> FindName(const std::string& store_path, const oci::ImageReference& reference) {
  PLIMSOLL_TRY_ASSIGN(std::optional<ImageRecord> record, ReadRecord(store_path, reference));
  if (record) return *std::move(record);
  PLIMSOLL_TRY_ASSIGN(const Store store, Store::Open(store_path));
  PLIMSOLL_TRY_ASSIGN(const std::vector<ImageRecord> records, ListRecords(store));
  PLIMSOLL_TRY(RefuseOtherPlatform(store, records, reference));
  return Unknown(records, reference);
}

}  // namespace

Result<ImageRecord> FindImage(const std::string& store_path, const oci::ImageReference& reference,
                              const ImportOptions& options) {
  if (reference.transport == Transport::kStore) return FindName(store_path, reference);
  auto found = reference.transport == Transport::kLayout
                   ? FindLayout(store_path, reference, options)
                   : FindArchive(store_path, reference, options);
  if (!found) return std::move(found).error().In("image " + Quote(reference.ToString()));
  return found;
}

}  // namespace plimsoll::image
