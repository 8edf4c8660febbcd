#include "oci/docker_save.h"

#include <utility>

#include "json/reader.h"
#include "oci/manifest.h"

namespace plimsoll::oci {
namespace {

Error TooMany(const json::Value& value, std::size_t limit) {
  Error error = value.Complaint("has more than " + std::to_string(limit) + " items");
  error.kind = ErrorKind::kCapacity;
  return error;
}

Result<DockerSaveImage> ReadImage(const json::Value& value) {
  DockerSaveImage image;
  PLIMSOLL_TRY_ASSIGN(const json::Value config, value.Member("Config"));
  PLIMSOLL_TRY_ASSIGN(image.config, config.String());
  PLIMSOLL_TRY_ASSIGN(const auto tags, value.Find("RepoTags"));
  if (tags) {
    PLIMSOLL_TRY_ASSIGN(image.repo_tags, tags->Strings());
    if (image.repo_tags.size() > kMaxManifests) return TooMany(*tags, kMaxManifests);
  }
  PLIMSOLL_TRY_ASSIGN(const json::Value layers, value.Member("Layers"));
  PLIMSOLL_TRY_ASSIGN(image.layers, layers.Strings());
  if (image.layers.size() > kMaxLayers) return TooMany(layers, kMaxLayers);
  return image;
}

}  // namespace

Result<std::vector<DockerSaveImage>> ParseDockerSave(std::string text, std::string name) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document, json::Parse(std::move(text), std::move(name)));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> items, document.Root().Array());
  if (items.size() > kMaxManifests) return TooMany(document.Root(), kMaxManifests);
  std::vector<DockerSaveImage> images;
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(DockerSaveImage image, ReadImage(item));
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace plimsoll::oci
