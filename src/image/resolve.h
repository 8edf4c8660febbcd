// Which images a source holds, and which of them is meant.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/limits.h"
#include "image/source.h"
#include "oci/descriptor.h"
#include "oci/digest.h"

namespace plimsoll::image {

// One image in a source, found but not yet read further than its manifest.
struct FoundImage {
  oci::Digest manifest;
  std::string manifest_text;
  std::optional<oci::Digest> index;  // that the manifest was picked from
  std::string index_text;
  std::vector<std::string> names;  // as the source calls it: "python:3.12", or a tag alone
  std::map<oci::Digest, std::string> paths;  // of blobs that do not lie at blobs/sha256/HEX
};

// What the caller wants of a source with several images; empty for all.
struct Selection {
  std::string tag;
  std::optional<oci::Digest> digest;  // of an index or of a manifest
};

// The images of an OCI layout (index.json), or of what docker save wrote (manifest.json), for this
// machine's platform. Documents are checked against their digests while they are read.
//
// Errors: kEnvironment when nothing fits, naming what there is: the tags, or the platforms of the
// image; kProtocol and kCapacity for broken documents.
Result<std::vector<FoundImage>> FindImages(Source& source, const Selection& selection,
                                           const Limits& limits);

// The platform that this program runs images of: linux/amd64.
oci::Platform OwnPlatform();

// "it has linux/arm64 (sha256:...), linux/s390x (sha256:...)" for an index; for messages.
std::string DescribePlatforms(const std::vector<oci::Descriptor>& manifests);

// True for manifests that only speak about others (attestations of the builder).
bool IsAttestation(const oci::Descriptor& descriptor);

}  // namespace plimsoll::image
