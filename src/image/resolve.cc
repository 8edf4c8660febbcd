#include "image/resolve.h"

#include <algorithm>

#include "base/text.h"
#include "crypto/sha256.h"
#include "image/docker_archive.h"
#include "image/store.h"
#include "oci/manifest.h"

namespace plimsoll::image {
namespace {

Error NotThere(std::string what) {
  return Error{.kind = ErrorKind::kEnvironment, .what = std::move(what)};
}

// A document by its descriptor: the size and the digest must be what the descriptor says.
Result<std::string> ReadDocument(Source& source, const oci::Descriptor& descriptor,
                                 const Limits& limits) {
  const std::string path = BlobPath(descriptor.digest);
  PLIMSOLL_TRY_ASSIGN(std::string text, source.Read(path, limits));
  const oci::Digest found{crypto::Sha256Of(text)};
  if (found != descriptor.digest || text.size() != descriptor.size) {
    return Error{.kind = ErrorKind::kEnvironment,
                 .what = Quote(path) + " has the digest " + found.ToString() + " and " +
                         std::to_string(text.size()) + " bytes, expected " +
                         descriptor.digest.ToString() + " and " + std::to_string(descriptor.size),
                 .hint = "the image is damaged or was changed; get it again"};
  }
  return text;
}

bool IsOwn(const oci::Platform& platform) {
  return platform.os == OwnPlatform().os && platform.architecture == OwnPlatform().architecture;
}

// The manifest for this machine: the only one, or the one whose platform fits.
Result<oci::Descriptor> PickPlatform(const std::vector<oci::Descriptor>& manifests,
                                     const std::string& what) {
  std::vector<oci::Descriptor> images;
  for (const oci::Descriptor& manifest : manifests) {
    if (!IsAttestation(manifest)) images.push_back(manifest);
  }
  for (const oci::Descriptor& image : images) {
    if (image.platform && IsOwn(*image.platform)) return image;
  }
  if (images.size() == 1 && !images.front().platform) return images.front();
  return NotThere(what + " has no image for " + OwnPlatform().ToString() + "; " +
                  DescribePlatforms(images));
}

// Follows a descriptor of index.json to one manifest; an index in between is kept.
class Finder {
 public:
  Finder(Source& source, const Limits& limits) : source_(source), limits_(limits) {}

  // `pin`: the digest that the caller insists on; the descriptor, or a manifest beneath it.
  Result<FoundImage> Follow(const oci::Descriptor& descriptor,
                            const std::optional<oci::Digest>& pin) {
    FoundImage image;
    oci::Descriptor manifest = descriptor;
    if (oci::IsIndexType(descriptor.media_type)) {
      PLIMSOLL_TRY_ASSIGN(image.index_text, ReadDocument(source_, descriptor, limits_));
      image.index = descriptor.digest;
      const std::string name = "index " + descriptor.digest.ToString();
      PLIMSOLL_TRY_ASSIGN(const oci::ImageIndex index,
                          oci::ParseImageIndex(image.index_text, name));
      PLIMSOLL_TRY_ASSIGN(manifest, pin && *pin != descriptor.digest
                                        ? PickDigest(index.manifests, *pin, name)
                                        : PickPlatform(index.manifests, name));
    }
    if (manifest.platform && !IsOwn(*manifest.platform)) {
      return NotThere("manifest " + manifest.digest.ToString() + " is for " +
                      manifest.platform->ToString() + ", this machine runs " +
                      OwnPlatform().ToString());
    }
    if (!manifest.media_type.empty() && !oci::IsManifestType(manifest.media_type)) {
      return Error{.kind = ErrorKind::kUnsupported,
                   .what = "media type " + Quote(manifest.media_type) + " is no image manifest"};
    }
    PLIMSOLL_TRY_ASSIGN(image.manifest_text, ReadDocument(source_, manifest, limits_));
    image.manifest = manifest.digest;
    for (const std::string& name : {descriptor.image_name, descriptor.ref_name}) {
      if (!name.empty() && image.names.empty()) image.names.push_back(name);
    }
    return image;
  }

 private:
  static Result<oci::Descriptor> PickDigest(const std::vector<oci::Descriptor>& manifests,
                                            const oci::Digest& digest, const std::string& name) {
    for (const oci::Descriptor& manifest : manifests) {
      if (manifest.digest != digest) continue;
      if (!manifest.platform || IsOwn(*manifest.platform)) return manifest;
      return NotThere(digest.ToString() + " is for " + manifest.platform->ToString() +
                      ", this machine runs " + OwnPlatform().ToString() + "; " + name + ": " +
                      DescribePlatforms(manifests));
    }
    return NotThere(name + " has no manifest " + digest.ToString());
  }

  Source& source_;
  const Limits& limits_;
};

bool HasTag(const oci::Descriptor& descriptor, const std::string& tag) {
  for (const std::string& name : {descriptor.ref_name, descriptor.image_name}) {
    if (name == tag || name.ends_with(":" + tag)) return true;
  }
  return false;
}

std::string DescribeTags(const std::vector<oci::Descriptor>& descriptors) {
  std::string text;
  for (const oci::Descriptor& descriptor : descriptors) {
    text += (text.empty() ? "it has " : ", ") + (descriptor.ref_name.empty()
                                                     ? descriptor.digest.ToString()
                                                     : Quote(descriptor.ref_name, 64));
  }
  return text.empty() ? "it is empty" : text;
}

// True when the pin is the descriptor's own digest or is named in the index behind it.
Result<bool> Reaches(Source& source, const oci::Descriptor& descriptor, const oci::Digest& pin,
                     const Limits& limits) {
  if (descriptor.digest == pin) return true;
  if (!oci::IsIndexType(descriptor.media_type)) return false;
  PLIMSOLL_TRY_ASSIGN(std::string text, ReadDocument(source, descriptor, limits));
  PLIMSOLL_TRY_ASSIGN(const oci::ImageIndex index,
                      oci::ParseImageIndex(std::move(text), descriptor.digest.ToString()));
  return std::any_of(index.manifests.begin(), index.manifests.end(),
                     [&](const oci::Descriptor& manifest) { return manifest.digest == pin; });
}

// What of index.json the selection means.
Result<std::vector<oci::Descriptor>> Select(Source& source, const std::vector<oci::Descriptor>& all,
                                            const Selection& selection, const Limits& limits) {
  std::vector<oci::Descriptor> chosen;
  for (const oci::Descriptor& descriptor : all) {
    if (!selection.tag.empty() && !HasTag(descriptor, selection.tag)) continue;
    if (selection.digest) {
      PLIMSOLL_TRY_ASSIGN(const bool reaches,
                          Reaches(source, descriptor, *selection.digest, limits));
      if (!reaches) continue;
    }
    chosen.push_back(descriptor);
  }
  if (chosen.empty()) {
    const std::string wanted = selection.digest
                                   ? " " + selection.digest->ToString()
                                   : (selection.tag.empty() ? "" : " " + Quote(selection.tag));
    return NotThere("the layout has no image" + wanted + "; " + DescribeTags(all));
  }
  // index.json itself may be the index over the platforms: equal or no names, several platforms.
  const bool one_name = std::all_of(chosen.begin(), chosen.end(), [&](const auto& descriptor) {
    return descriptor.ref_name == chosen.front().ref_name && descriptor.platform;
  });
  if (chosen.size() > 1 && one_name) {
    PLIMSOLL_TRY_ASSIGN(const oci::Descriptor own, PickPlatform(chosen, "index.json"));
    return std::vector<oci::Descriptor>{own};
  }
  return chosen;
}

Result<std::vector<FoundImage>> FindInLayout(Source& source, const Selection& selection,
                                             const Limits& limits) {
  PLIMSOLL_TRY_ASSIGN(std::string text, source.Read("index.json", limits));
  PLIMSOLL_TRY_ASSIGN(const oci::ImageIndex index,
                      oci::ParseImageIndex(std::move(text), "index.json"));
  std::vector<oci::Descriptor> all;
  for (const oci::Descriptor& descriptor : index.manifests) {
    if (!IsAttestation(descriptor)) all.push_back(descriptor);
  }
  PLIMSOLL_TRY_ASSIGN(const std::vector<oci::Descriptor> chosen,
                      Select(source, all, selection, limits));
  std::vector<FoundImage> images;
  Finder finder(source, limits);
  for (const oci::Descriptor& descriptor : chosen) {
    PLIMSOLL_TRY_ASSIGN(FoundImage image, finder.Follow(descriptor, selection.digest));
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace

oci::Platform OwnPlatform() {
  return {.os = "linux", .architecture = "amd64", .variant = ""};
}

std::string DescribePlatforms(const std::vector<oci::Descriptor>& manifests) {
  std::string text;
  for (const oci::Descriptor& manifest : manifests) {
    if (IsAttestation(manifest)) continue;
    text += (text.empty() ? "it has " : ", ") +
            Quote(manifest.platform ? manifest.platform->ToString() : "no platform", 64) + " (" +
            manifest.digest.ToString() + ")";
  }
  return text.empty() ? "it is empty" : text;
}

bool IsAttestation(const oci::Descriptor& descriptor) {
  return descriptor.platform && descriptor.platform->os == "unknown";
}

Result<std::vector<FoundImage>> FindImages(Source& source, const Selection& selection,
                                           const Limits& limits) {
  // Newer versions of docker save write both; the layout then has the original digests.
  if (source.Has("index.json")) return FindInLayout(source, selection, limits);
  if (source.Has("manifest.json")) return FindInDockerSave(source, selection, limits);
  return Error{.kind = ErrorKind::kEnvironment,
               .what =
                   "neither an OCI image layout (index.json) nor a docker save archive "
                   "(manifest.json)"};
}

}  // namespace plimsoll::image
