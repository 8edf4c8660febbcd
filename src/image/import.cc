#include "image/import.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <set>

#include "base/text.h"
#include "crypto/sha256.h"
#include "image/import_name.h"
#include "image/layer.h"
#include "image/tree.h"
#include "oci/manifest.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

std::int64_t Now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

// Brings images of one source into the store. Blobs wait in the work directory until Commit().
class Importer {
 public:
  Importer(const Store& store, const WorkDirectory& work, Source& source,
           const ImportOptions& options)
      : store_(store), work_(work), source_(source), options_(options) {}

  Result<ImageRecord> Add(const FoundImage& image) {
    const std::string name = "manifest " + image.manifest.ToString();
    PLIMSOLL_TRY_ASSIGN(const oci::Manifest manifest,
                        oci::ParseManifest(image.manifest_text, name));
    PLIMSOLL_TRY_ASSIGN(const std::string config_text, ReadConfig(image, manifest.config));
    ImageRecord record;
    PLIMSOLL_TRY_ASSIGN(
        record.config,
        oci::ParseImageConfig(config_text, "configuration " + manifest.config.digest.ToString()));
    PLIMSOLL_TRY(Check(manifest, record.config));
    for (std::size_t at = 0; at < manifest.layers.size(); ++at) {
      const oci::Descriptor& layer = manifest.layers[at];
      const oci::Digest& diff_id = record.config.diff_ids[at];
      const std::string what = "unpack layer " + std::to_string(at + 1) + " of " +
                               std::to_string(manifest.layers.size());
      PLIMSOLL_TRY(AddLayer(image, layer, diff_id, what));
      record.layers.push_back({.digest = layer.digest, .size = layer.size, .diff_id = diff_id});
      record.size += layer.size;
    }
    record.manifest = image.manifest;
    record.index = image.index;
    record.config_digest = manifest.config.digest;
    record.chain_id = ChainId(record.config.diff_ids);
    record.size += image.manifest_text.size() + config_text.size() + image.index_text.size();
    record.imported = Now();
    Tell("merge the layers");
    PLIMSOLL_TRY(EnsureTree(store_, record.chain_id, record.config.diff_ids));
    PLIMSOLL_TRY(StageText(manifest.config.digest, config_text));
    PLIMSOLL_TRY(StageText(image.manifest, image.manifest_text));
    if (image.index) PLIMSOLL_TRY(StageText(*image.index, image.index_text));
    return record;
  }

  std::vector<std::string> TakeNotes() { return std::move(notes_); }

  // Moves the blobs to where the store looks for them. Without a record they are nobody's yet.
  Result<void> Commit() {
    for (const oci::Digest& digest : staged_) {
      const std::string from = work_.Path() + "/" + StagedName(digest);
      if (::renameat(store_.Root(), from.c_str(), store_.Root(), BlobPath(digest).c_str()) != 0) {
        return sys::ErrnoError("rename " + Quote(from));
      }
    }
    return {};
  }

 private:
  static std::string StagedName(const oci::Digest& digest) { return "blob-" + digest.Hex(); }

  void Tell(std::string what) const {
    if (options_.progress) options_.progress({.what = std::move(what), .done = 0, .total = 0});
  }

  static std::string PathOf(const FoundImage& image, const oci::Digest& digest) {
    const auto path = image.paths.find(digest);
    return path != image.paths.end() ? path->second : BlobPath(digest);
  }

  Result<std::string> ReadConfig(const FoundImage& image, const oci::Descriptor& config) {
    const std::string path = PathOf(image, config.digest);
    PLIMSOLL_TRY_ASSIGN(std::string text, source_.Read(path, options_.limits));
    const oci::Digest found{crypto::Sha256Of(text)};
    if (found == config.digest) return text;
    return Error{.kind = ErrorKind::kEnvironment,
                 .what = "configuration " + Quote(path) + " has the digest " + found.ToString() +
                         ", expected " + config.digest.ToString(),
                 .hint = "the image is damaged or was changed; get it again"};
  }

  static Result<void> Check(const oci::Manifest& manifest, const oci::ImageConfig& config) {
    const oci::Platform own = OwnPlatform();
    if (config.platform.os != own.os || config.platform.architecture != own.architecture) {
      return Error{.kind = ErrorKind::kEnvironment,
                   .what = "the image is for " + Quote(config.platform.ToString(), 64) +
                           ", this machine runs " + own.ToString()};
    }
    if (manifest.layers.size() != config.diff_ids.size() || manifest.layers.empty()) {
      return Error{.kind = ErrorKind::kProtocol,
                   .what = "the manifest has " + std::to_string(manifest.layers.size()) +
                           " layers and the configuration " +
                           std::to_string(config.diff_ids.size()) + " DiffIDs"};
    }
    return {};
  }

  Result<void> AddLayer(const FoundImage& image, const oci::Descriptor& layer,
                        const oci::Digest& diff_id, const std::string& what) {
    const bool stored = sys::StatAt(store_.Root(), BlobPath(layer.digest)).has_value();
    const bool known = stored || staged_.count(layer.digest) != 0;
    if (known && HasLayer(store_, diff_id)) return {};
    if (!known) {
      PLIMSOLL_TRY(source_.Take(PathOf(image, layer.digest), work_.Fd(), StagedName(layer.digest)));
      staged_.insert(layer.digest);
    }
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd,
                        stored ? sys::OpenAt(store_.Root(), BlobPath(layer.digest), O_RDONLY)
                               : sys::OpenAt(work_.Fd(), StagedName(layer.digest), O_RDONLY));
    PLIMSOLL_TRY(CheckSize(fd.Get(), layer));
    const BlobSource blob = {.fd = fd.Get(), .bytes = {}, .name = layer.digest.ToString()};
    const auto on_read = [&](std::uint64_t done) {
      if (options_.progress) {
        options_.progress({.what = what, .done = done, .total = layer.size});
      }
    };
    PLIMSOLL_TRY_ASSIGN(const std::optional<UnpackedLayer> unpacked,
                        EnsureLayer(store_, diff_id, blob, layer.digest, options_.limits, on_read));
    if (unpacked && unpacked->facts.devices != 0) {
      notes_.push_back("layer " + layer.digest.ToString() + ": " +
                       std::to_string(unpacked->facts.devices) +
                       " device nodes or sockets were left out");
    }
    if (unpacked || known) return {};
    return CheckLayerBlob(blob, {.blob = layer.digest, .diff_id = diff_id}, options_.limits);
  }

  static Result<void> CheckSize(int fd, const oci::Descriptor& layer) {
    PLIMSOLL_TRY_ASSIGN(const struct stat status, sys::Stat(fd, layer.digest.ToString()));
    if (static_cast<std::uint64_t>(status.st_size) == layer.size) return {};
    return Error{.kind = ErrorKind::kEnvironment,
                 .what = "layer " + layer.digest.ToString() + " has " +
                         std::to_string(status.st_size) + " bytes, the manifest says " +
                         std::to_string(layer.size),
                 .hint = "the image is damaged or was changed; get it again"};
  }

  Result<void> StageText(const oci::Digest& digest, const std::string& text) {
    if (!staged_.insert(digest).second) return {};
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd, sys::OpenAt(work_.Fd(), StagedName(digest),
                                                            O_WRONLY | O_CREAT | O_EXCL, 0600));
    return sys::WriteAll(fd.Get(), text, digest.ToString());
  }

  const Store& store_;
  const WorkDirectory& work_;
  Source& source_;
  const ImportOptions& options_;
  std::set<oci::Digest> staged_;  // in the work directory
  std::vector<std::string> notes_;
};

// The tag's record, and the same under the pins of the manifest and the index.
Result<void> File(const Store& store, const WorkDirectory& work,
                  const oci::ImageReference& reference, const ImageRecord& record) {
  oci::ImageReference pin;
  pin.name = reference.name;
  pin.digest = record.manifest;
  PLIMSOLL_TRY(WriteRecord(store, work, pin, record));
  if (record.index) {
    pin.digest = record.index;
    PLIMSOLL_TRY(WriteRecord(store, work, pin, record));
  }
  return reference.digest ? Result<void>() : WriteRecord(store, work, reference, record);
}

}  // namespace

Result<std::unique_ptr<Source>> OpenSource(const std::string& path, const WorkDirectory& work,
                                           const ImportOptions& options) {
  auto status = sys::StatAt(AT_FDCWD, path + "/.");  // follows a link to a folder
  if (status) return OpenFolder(path);
  return OpenArchive(path, work, options.limits, options.progress);
}

Result<Imported> ImportImages(const Store& store, const ImportRequest& request,
                              const ImportOptions& options) {
  (void)store.SweepTemporary();  // what cannot be removed is in nobody's way
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd lock, store.LockShared());
  PLIMSOLL_TRY_ASSIGN(const WorkDirectory work,
                      WorkDirectory::Claim(store, "import-" + std::to_string(::getpid())));
  PLIMSOLL_TRY_ASSIGN(const std::unique_ptr<Source> source,
                      OpenSource(request.path, work, options));
  PLIMSOLL_TRY_ASSIGN(const std::vector<FoundImage> images,
                      FindImages(*source, request.selection, options.limits));
  PLIMSOLL_TRY(CheckCount(request, images));
  Importer importer(store, work, *source, options);
  std::vector<std::pair<oci::ImageReference, ImageRecord>> filed;
  for (const FoundImage& image : images) {
    PLIMSOLL_TRY_ASSIGN(const std::vector<oci::ImageReference> names, NamesFor(request, image));
    PLIMSOLL_TRY_ASSIGN(ImageRecord record, importer.Add(image));
    record.source = IsUtf8(request.source) ? request.source : Quote(request.source);
    for (const oci::ImageReference& name : names)
      filed.emplace_back(name, record);
  }
  PLIMSOLL_TRY(importer.Commit());
  Imported imported;
  for (auto& [name, record] : filed) {
    PLIMSOLL_TRY(File(store, work, name, record));
    record.name = name.ToString();
    imported.records.push_back(std::move(record));
  }
  imported.notes = importer.TakeNotes();
  return imported;
}

}  // namespace plimsoll::image
