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

std::uint64_t MaxContent(const Limits& limits) {
  return limits.layer_bytes + limits.layer_entries * kHeaderBytes;
}

Result<void> ExpectBoth(const BlobSource& source, const ExpectedLayer& expected,
                        const BlobFacts& found) {
  const std::string layer = "layer " + source.name;
  PLIMSOLL_TRY(Expect(layer + " has the digest", expected.blob, found.digest));
  return Expect(layer + " unpacks to the DiffID", expected.diff_id, found.content);
}

// A stream that does not decompress or parse is most often one that was damaged: then say so.
Error Explain(const BlobSource& source, const ExpectedLayer& expected, Error error) {
  Error inner = std::move(error).In("layer " + source.name);
  if (inner.kind != ErrorKind::kProtocol || !expected.blob) return inner;
  const oci::Digest found = HashBlob(source, false);
  auto same = Expect("layer " + source.name + " has the digest", expected.blob, found);
  return same ? inner : std::move(same).error();
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
  auto blob = ReadBlob(source, MaxContent(limits), write, on_read, !expected.diff_id);
  if (!blob) return Explain(source, expected, std::move(blob).error());
  layer.blob = *blob;
  PLIMSOLL_TRY(ExpectBoth(source, expected, *blob));
  return layer;
}

Result<void> CheckLayerBlob(const BlobSource& source, const ExpectedLayer& expected,
                            const Limits& limits) {
  const auto ignore = [](const BlockSource&) -> Result<void> { return {}; };
  auto blob = ReadBlob(source, MaxContent(limits), ignore);
  if (!blob) return Explain(source, expected, std::move(blob).error());
  return ExpectBoth(source, expected, *blob);
}
bool HasLayer(const Store& store, const oci::Digest& diff_id) {
  return sys::StatAt(store.Root(), LayerPath(diff_id)).has_value();
}

Result<std::optional<UnpackedLayer>> EnsureLayer(
    const Store& store, const oci::Digest& diff_id, const BlobSource& source,
    const oci::Digest& blob, const Limits& limits,
    const std::function<void(std::uint64_t)>& on_read) {
  if (HasLayer(store, diff_id)) return std::optional<UnpackedLayer>();
  PLIMSOLL_TRY_ASSIGN(const WorkDirectory work,
                      WorkDirectory::Claim(store, "layer-" + diff_id.Hex()));
  if (HasLayer(store, diff_id))
    return std::optional<UnpackedLayer>();  // made by the one we waited for
  PLIMSOLL_TRY_ASSIGN(UnpackedLayer layer, UnpackLayer(source, {.blob = blob, .diff_id = diff_id},
                                                       limits, work.Fd(), on_read));
  if (::renameat(store.Root(), work.Path().c_str(), store.Root(), LayerPath(diff_id).c_str()) !=
      0) {
    return sys::ErrnoError("rename " + Quote(work.Path()) + " to " + Quote(LayerPath(diff_id)));
  }
  return std::optional<UnpackedLayer>(std::move(layer));
}

}  // namespace plimsoll::image
