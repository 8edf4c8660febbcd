// What the store knows of an image under a name: one small file for each tag and each pin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/store.h"
#include "oci/digest.h"
#include "oci/image_config.h"
#include "oci/reference.h"

namespace plimsoll::image {

struct RecordedLayer {
  oci::Digest digest;  // of the blob
  std::uint64_t size = 0;
  oci::Digest diff_id;
};

struct ImageRecord {
  std::string name;  // the reference that it is filed under, in full form
  oci::Digest manifest;
  std::optional<oci::Digest> index;  // that the manifest was picked from
  oci::Digest config_digest;
  oci::Digest chain_id;
  std::vector<RecordedLayer> layers;
  std::uint64_t size = 0;     // of all blobs
  std::int64_t imported = 0;  // seconds since 1970
  std::string source;         // what it was imported from, as the user gave it
  oci::ImageConfig config;

  // Filed under a digest and not under a tag.
  bool IsPin() const { return name.find('@') != std::string::npos; }
  // Filed under its digest alone, "@sha256:...": what a run by path has brought in.
  bool IsNameless() const { return name.starts_with('@'); }

  // "oci-image:sha256:..." of the index when there is one, else of the manifest.
  std::string Environment() const;
};

// The record that `reference` (of the store) is filed under; nothing when there is none. A digest
// alone is that of an image of any name. Reads one file, and for a digest alone that has no file of
// its own lists the folder; `store_path` is absolute.
Result<std::optional<ImageRecord>> ReadRecord(const std::string& store_path,
                                              const oci::ImageReference& reference);

// Files `record` under `reference`, in place of what is there, by a rename out of `work`.
Result<void> WriteRecord(const Store& store, const WorkDirectory& work,
                         const oci::ImageReference& reference, ImageRecord record);

// All records, sorted by name.
Result<std::vector<ImageRecord>> ListRecords(const Store& store);

// Takes the name away; the data stays until somebody collects it.
Result<void> RemoveRecord(const Store& store, const ImageRecord& record);

Result<ImageRecord> ParseRecord(std::string text, std::string name);
std::string FormatRecord(const ImageRecord& record);

}  // namespace plimsoll::image
