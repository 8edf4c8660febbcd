#include "support/tar_builder.h"

#include <zlib.h>
#include <zstd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "crypto/sha256.h"

namespace plimsoll::testing_support {
namespace {

constexpr std::size_t kBlock = 512;

// The fields of a ustar header (POSIX.1-1988): offset and size.
struct Field {
  std::size_t at;
  std::size_t size;
};
constexpr Field kName = {0, 100};
constexpr Field kMode = {100, 8};
constexpr Field kUid = {108, 8};
constexpr Field kGid = {116, 8};
constexpr Field kSize = {124, 12};
constexpr Field kTime = {136, 12};
constexpr Field kSum = {148, 8};
constexpr Field kLink = {157, 100};
constexpr std::size_t kType = 156;
constexpr std::size_t kMagic = 257;

void PutText(std::string& header, Field field, std::string_view text) {
  header.replace(field.at, std::min(field.size, text.size()), text.substr(0, field.size));
}

void PutOctal(std::string& header, Field field, std::uint64_t number) {
  std::array<char, 32> digits = {};
  (void)std::snprintf(digits.data(), digits.size(), "%0*llo", static_cast<int>(field.size - 1),
                      static_cast<unsigned long long>(number));
  PutText(header, field, digits.data());
}

std::string MakeHeader(std::string_view path, char type, std::string_view link, std::uint64_t size,
                       const EntryOptions& options) {
  std::string header(kBlock, '\0');
  PutText(header, kName, path);
  PutText(header, kLink, link);
  PutOctal(header, kMode, options.mode);
  PutOctal(header, kUid, options.uid);
  PutOctal(header, kGid, options.gid);
  PutOctal(header, kSize, size);
  PutOctal(header, kTime, static_cast<std::uint64_t>(options.mtime));
  header[kType] = type;
  header.replace(kMagic, 8, std::string_view("ustar\00000", 8));
  PutText(header, kSum, "        ");
  unsigned sum = 0;
  for (const char byte : header)
    sum += static_cast<unsigned char>(byte);
  PutOctal(header, {kSum.at, 7}, sum);
  return header;
}

// "LENGTH KEY=VALUE\n", where the length counts its own digits.
std::string PaxRecord(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size();
  while (std::to_string(length).size() + rest.size() != length) {
    length = std::to_string(length).size() + rest.size();
  }
  return std::to_string(length) + rest;
}

}  // namespace

TarBuilder& TarBuilder::Raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

void TarBuilder::Content(std::string_view content) {
  bytes_ += content;
  bytes_.append((kBlock - content.size() % kBlock) % kBlock, '\0');
}

TarBuilder& TarBuilder::Header(std::string_view path, char type, std::string_view link,
                               std::uint64_t size, const EntryOptions& options) {
  std::string pax;
  if (path.size() > kName.size) pax += PaxRecord("path", std::string(path));
  if (link.size() > kLink.size) pax += PaxRecord("linkpath", std::string(link));
  for (const auto& [key, value] : options.pax)
    pax += PaxRecord(key, value);
  if (!pax.empty()) {
    bytes_ += MakeHeader("pax", 'x', "", pax.size(), {});
    Content(pax);
  }
  bytes_ += MakeHeader(path, type, link, size, options);
  return *this;
}

TarBuilder& TarBuilder::File(std::string_view path, std::string_view content,
                             const EntryOptions& options) {
  Header(path, '0', "", content.size(), options);
  Content(content);
  return *this;
}

TarBuilder& TarBuilder::Directory(std::string_view path, const EntryOptions& options) {
  return Header(path, '5', "", 0, options);
}
TarBuilder& TarBuilder::Symlink(std::string_view path, std::string_view target,
                                const EntryOptions& options) {
  return Header(path, '2', target, 0, options);
}
TarBuilder& TarBuilder::Hardlink(std::string_view path, std::string_view target,
                                 const EntryOptions& options) {
  return Header(path, '1', target, 0, options);
}
TarBuilder& TarBuilder::Fifo(std::string_view path, const EntryOptions& options) {
  return Header(path, '6', "", 0, options);
}
TarBuilder& TarBuilder::CharacterDevice(std::string_view path, const EntryOptions& options) {
  return Header(path, '3', "", 0, options);
}

std::string TarBuilder::Finish() const {
  return bytes_ + std::string(2 * kBlock, '\0');
}

std::string Gzip(std::string_view bytes) {
  z_stream stream = {};
  if (::deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    std::abort();
  }
  std::string out(::deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  out.resize(stream.total_out);
  (void)::deflateEnd(&stream);
  return out;
}

std::string Zstd(std::string_view bytes) {
  std::string out(::ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ::ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3);
  if (::ZSTD_isError(size) != 0) std::abort();
  out.resize(size);
  return out;
}

std::string DigestOf(std::string_view bytes) {
  return "sha256:" + crypto::Sha256HexOf(bytes);
}

BuiltImage BuildImage(const ImageParts& parts) {
  BuiltImage image;
  std::string diff_ids;
  std::string layers;
  for (std::size_t at = 0; at < parts.layers.size(); ++at) {
    const std::string& blob = parts.layers[at];
    const std::string& tar = parts.layer_tars.empty() ? blob : parts.layer_tars[at];
    const std::string comma = at == 0 ? "" : ",";
    diff_ids += comma + "\"" + DigestOf(tar) + "\"";
    layers += comma + R"({"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":")" +
              DigestOf(blob) + R"(","size":)" + std::to_string(blob.size()) + "}";
    image.blobs.emplace_back(crypto::Sha256HexOf(blob), blob);
  }
  image.config = R"({"architecture":")" + parts.architecture + R"(","os":")" + parts.os + R"(",)" +
                 parts.config + R"(,"rootfs":{"type":"layers","diff_ids":[)" + diff_ids + "]}}";
  image.manifest =
      R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",)"
      R"("config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":")" +
      DigestOf(image.config) + R"(","size":)" + std::to_string(image.config.size()) +
      R"(},"layers":[)" + layers + "]}";
  image.manifest_digest = DigestOf(image.manifest);
  image.blobs.emplace_back(crypto::Sha256HexOf(image.config), image.config);
  image.blobs.emplace_back(crypto::Sha256HexOf(image.manifest), image.manifest);
  return image;
}

std::string DescriptorOf(const BuiltImage& image, std::string_view ref_name,
                         std::string_view platform) {
  std::string text = R"({"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":")" +
                     image.manifest_digest + R"(","size":)" + std::to_string(image.manifest.size());
  if (!ref_name.empty()) {
    text +=
        R"(,"annotations":{"org.opencontainers.image.ref.name":")" + std::string(ref_name) + "\"}";
  }
  if (!platform.empty()) {
    const std::size_t slash = platform.find('/');
    text += R"(,"platform":{"os":")" + std::string(platform.substr(0, slash)) +
            R"(","architecture":")" + std::string(platform.substr(slash + 1)) + "\"}";
  }
  return text + "}";
}

std::string IndexJson(const std::vector<std::string>& descriptors) {
  std::string text = R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json",)"
                     R"("manifests":[)";
  for (std::size_t at = 0; at < descriptors.size(); ++at) {
    text += (at == 0 ? "" : ",") + descriptors[at];
  }
  return text + "]}";
}

Files LayoutOfSeveral(const std::vector<BuiltImage>& images, std::string_view index_json) {
  Files files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"},
                 {"index.json", std::string(index_json)}};
  for (const BuiltImage& image : images) {
    for (const auto& [hex, bytes] : image.blobs)
      files.emplace_back("blobs/sha256/" + hex, bytes);
  }
  return files;
}

Files LayoutFiles(const BuiltImage& image, std::string_view ref_name) {
  return LayoutOfSeveral({image}, IndexJson({DescriptorOf(image, ref_name, "")}));
}

void WriteFiles(const std::string& folder, const Files& files) {
  for (const auto& [path, bytes] : files) {
    const std::filesystem::path target = std::filesystem::path(folder) / path;
    std::filesystem::create_directories(target.parent_path());
    std::ofstream(target, std::ios::binary) << bytes;
  }
}

std::string TarOf(const Files& files) {
  TarBuilder tar;
  for (const auto& [path, bytes] : files)
    tar.File(path, bytes);
  return tar.Finish();
}

}  // namespace plimsoll::testing_support
