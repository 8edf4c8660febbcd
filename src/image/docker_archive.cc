#include "image/docker_archive.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/text.h"
#include "crypto/sha256.h"
#include "image/blob_stream.h"
#include "oci/docker_save.h"
#include "oci/manifest.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

std::string LayerMediaType(Compression compression) {
  std::string type(oci::kLayerType);
  if (compression != Compression::kNone) type += "+" + std::string(CompressionName(compression));
  return type;
}

// Reads each layer file once, however many images and names it has.
class Describer {
 public:
  Describer(Source& source, const Limits& limits) : source_(source), limits_(limits) {}

  Result<FoundImage> Describe(const oci::DockerSaveImage& saved) {
    FoundImage image;
    image.names = saved.repo_tags;
    oci::Manifest manifest;
    PLIMSOLL_TRY_ASSIGN(const std::string config, source_.Read(saved.config, limits_));
    manifest.config.media_type = oci::kConfigType;
    manifest.config.digest.bytes = crypto::Sha256Of(config);
    manifest.config.size = config.size();
    image.paths[manifest.config.digest] = saved.config;
    for (const std::string& path : saved.layers) {
      PLIMSOLL_TRY_ASSIGN(const oci::Descriptor layer, DescribeLayer(path));
      image.paths[layer.digest] = path;
      manifest.layers.push_back(layer);
    }
    image.manifest_text = oci::FormatManifest(manifest);
    image.manifest.bytes = crypto::Sha256Of(image.manifest_text);
    return image;
  }

 private:
  Result<oci::Descriptor> DescribeLayer(const std::string& path) {
    const auto known = layers_.find(path);
    if (known != layers_.end()) return known->second;
    PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd fd, source_.Open(path));
    const auto ignore = [](const BlockSource&) -> Result<void> { return {}; };
    auto facts = ReadBlob({.fd = fd.Get(), .name = path}, limits_.archive_bytes, ignore);
    if (!facts) return std::move(facts).error().In("layer " + Quote(path));
    oci::Descriptor layer;
    layer.media_type = LayerMediaType(facts->compression);
    layer.digest = facts->digest;
    layer.size = facts->size;
    layers_[path] = layer;
    return layer;
  }

  Source& source_;
  const Limits& limits_;
  std::map<std::string, oci::Descriptor> layers_;  // by path
};

bool IsWanted(const FoundImage& image, const Selection& selection) {
  if (selection.digest && image.manifest != *selection.digest) return false;
  return selection.tag.empty() ||
         std::any_of(image.names.begin(), image.names.end(),
                     [&](const std::string& name) { return name.ends_with(":" + selection.tag); });
}

}  // namespace

Result<std::vector<FoundImage>> FindInDockerSave(Source& source, const Selection& selection,
                                                 const Limits& limits) {
  PLIMSOLL_TRY_ASSIGN(std::string text, source.Read("manifest.json", limits));
  PLIMSOLL_TRY_ASSIGN(const std::vector<oci::DockerSaveImage> saved,
                      oci::ParseDockerSave(std::move(text), "manifest.json"));
  Describer describer(source, limits);
  std::vector<FoundImage> images;
  for (const oci::DockerSaveImage& one : saved) {
    PLIMSOLL_TRY_ASSIGN(FoundImage image, describer.Describe(one));
    if (IsWanted(image, selection)) images.push_back(std::move(image));
  }
  if (!images.empty()) return images;
  return Error{.kind = ErrorKind::kEnvironment, .what = "the archive has no such image"};
}

}  // namespace plimsoll::image
