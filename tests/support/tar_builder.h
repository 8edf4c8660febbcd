// Tar archives made entry by entry, hostile ones included, and images made of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll::testing_support {

// What an entry says beside its name; the names are those of tar's header.
struct EntryOptions {
  unsigned mode = 0644;
  unsigned uid = 0;
  unsigned gid = 0;
  std::int64_t mtime = 1000000000;
  std::vector<std::pair<std::string, std::string>> pax = {};  // extended header records
};

// A tar stream in the making. Nothing is checked: names may be absolute, point upwards, come twice.
class TarBuilder {
 public:
  TarBuilder& File(std::string_view path, std::string_view content, const EntryOptions& = {});
  TarBuilder& Directory(std::string_view path, const EntryOptions& = {.mode = 0755});
  TarBuilder& Symlink(std::string_view path, std::string_view target, const EntryOptions& = {});
  TarBuilder& Hardlink(std::string_view path, std::string_view target, const EntryOptions& = {});
  TarBuilder& Fifo(std::string_view path, const EntryOptions& = {});
  TarBuilder& CharacterDevice(std::string_view path, const EntryOptions& = {});
  // A header alone that promises `size` bytes of content, which the caller appends or not.
  TarBuilder& Header(std::string_view path, char type, std::string_view link, std::uint64_t size,
                     const EntryOptions& = {});
  TarBuilder& Raw(std::string_view bytes);

  // The stream with the two blocks of zeros at its end.
  std::string Finish() const;

 private:
  void Content(std::string_view content);

  std::string bytes_;
};

std::string Gzip(std::string_view bytes);
std::string Zstd(std::string_view bytes);

// "sha256:<hex>".
std::string DigestOf(std::string_view bytes);

struct ImageParts {
  std::vector<std::string> layers;           // as they are stored; compressed or not
  std::vector<std::string> layer_tars = {};  // uncompressed; empty: the layers are plain
  std::string config = R"("config":{"Env":["PATH=/bin"],"Cmd":["sh"]})";  // members of the document
  std::string architecture = "amd64";
  std::string os = "linux";
};

// An image's documents and blobs, by digest.
struct BuiltImage {
  std::string config;
  std::string manifest;
  std::string manifest_digest;
  std::vector<std::pair<std::string, std::string>> blobs;  // hexadecimal digest, bytes
};
BuiltImage BuildImage(const ImageParts& parts);

// The descriptor of a manifest for index.json: with a ref.name annotation and a platform when they
// are not empty ("linux/arm64").
std::string DescriptorOf(const BuiltImage& image, std::string_view ref_name,
                         std::string_view platform);

// The files of an OCI layout, path and bytes, to be written to a folder or into an archive.
using Files = std::vector<std::pair<std::string, std::string>>;
Files LayoutOfSeveral(const std::vector<BuiltImage>& images, std::string_view index_json);
// A layout with one image.
Files LayoutFiles(const BuiltImage& image, std::string_view ref_name);
std::string IndexJson(const std::vector<std::string>& descriptors);

void WriteFiles(const std::string& folder, const Files& files);
std::string TarOf(const Files& files);

}  // namespace plimsoll::testing_support
