#include "image/layer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "image/layer_writer.h"
#include "image/tar_reader.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

// tar pads to its record size and headers take 512 bytes each, so the stream is larger than its
// files. The writer holds the exact limit; this one stops what is all headers.
constexpr std::uint64_t kHeaderBytes = 2048;

Result<LayerFacts> WriteEntries(const BlockSource& blocks, const Limits& limits, int directory) {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd root,
                      sys::OpenAt(directory, "rootfs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  PLIMSOLL_TRY_ASSIGN(const std::unique_ptr<TarReader> reader, TarReader::Open(blocks));
  LayerWriter writer(root.Get(), limits);
  TarEntry entry;
  for (;;) {
    PLIMSOLL_TRY_ASSIGN(const bool more, reader->Next(entry));
    if (!more) break;
    PLIMSOLL_TRY(writer.Add(entry, *reader));
  }
  PLIMSOLL_TRY_ASSIGN(LayerFacts facts, writer.Finish());
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd owners,
                      sys::OpenAt(directory, "owners.json", O_WRONLY | O_CREAT | O_EXCL, 0600));
  PLIMSOLL_TRY(sys::WriteAll(owners.Get(), writer.FormatOwners(), "owners.json"));
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd json,
                      sys::OpenAt(directory, "layer.json", O_WRONLY | O_CREAT | O_EXCL, 0600));
  PLIMSOLL_TRY(sys::WriteAll(json.Get(), FormatLayerFacts(facts), "layer.json"));
  return facts;
}

Result<void> Expect(std::string_view what, const std::optional<oci::Digest>& expected,
                    const oci::Digest& found) {
  if (!expected || *expected == found) return {};
  return Error{
      .kind = ErrorKind::kEnvironment,
      .what = std::string(what) + " " + found.ToString() + ", expected " + expected->ToString(),
      .hint = "the image is damaged or was changed; get it again"};
}

}  // namespace

Result<UnpackedLayer> UnpackLayer(const BlobSource& source, const ExpectedLayer& expected,
                                  const Limits& limits, int directory,
                                  const std::function<void(std::uint64_t)>& on_read) {
  if (::mkdirat(directory, "rootfs", 0700) != 0) return sys::ErrnoError("mkdir 'rootfs'");
  UnpackedLayer layer;
  const auto write = [&](const BlockSource& blocks) -> Result<void> {
    PLIMSOLL_TRY_ASSIGN(layer.facts, WriteEntries(blocks, limits, directory));
    return {};
  };
  const std::uint64_t max_content = limits.layer_bytes + limits.layer_entries * kHeaderBytes;
  auto blob = ReadBlob(source, max_content, write, on_read);
  if (!blob) return std::move(blob).error().In("layer " + source.name);
  layer.blob = *blob;
  PLIMSOLL_TRY(Expect("layer " + source.name + " has the digest", expected.blob, blob->digest));
  PLIMSOLL_TRY(
      Expect("layer " + source.name + " unpacks to the DiffID", expected.diff_id, blob->content));
  return layer;
}

bool HasLayer(const Store& store, const oci::Digest& diff_id) {
  return sys::StatAt(store.Root(), LayerPath(diff_id)).has_value();
}

Result<void> EnsureLayer(const Store& store, const oci::Digest& diff_id, const BlobSource& source,
                         const oci::Digest& blob, const Limits& limits,
                         const std::function<void(std::uint64_t)>& on_read) {
  if (HasLayer(store, diff_id)) return {};
  PLIMSOLL_TRY_ASSIGN(const WorkDirectory work,
                      WorkDirectory::Claim(store, "layer-" + diff_id.Hex()));
  if (HasLayer(store, diff_id)) return {};  // made by the one we waited for
  PLIMSOLL_TRY(UnpackLayer(source, {.blob = blob, .diff_id = diff_id}, limits, work.Fd(), on_read));
  if (::renameat(store.Root(), work.Path().c_str(), store.Root(), LayerPath(diff_id).c_str()) !=
      0) {
    return sys::ErrnoError("rename " + Quote(work.Path()) + " to " + Quote(LayerPath(diff_id)));
  }
  return {};
}

}  // namespace plimsoll::image
