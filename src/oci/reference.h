// How a user names an image, on the command line and in a request.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "oci/digest.h"

namespace plimsoll::oci {

// NAME[:TAG][@sha256:HEX]                the local store
// @sha256:HEX, sha256:HEX                the same, whatever the name
// oci:DIR[:TAG | @sha256:HEX]            an OCI image layout
// oci-archive:FILE[@sha256:HEX]          the same in a tar file
// docker-archive:FILE[@sha256:HEX]       what `docker save` writes
struct ImageReference {
  enum class Transport { kStore, kLayout, kOciArchive, kDockerArchive };

  Transport transport = Transport::kStore;
  std::string name;              // kStore: the repository, such as "python" or "ghcr.io/a/b";
                                 // may be empty beside a digest
  std::string path;              // the others: the directory or file, as given
  std::string tag;               // kStore: "latest" unless given, empty beside a digest; kLayout:
                                 // empty unless given
  std::optional<Digest> digest;  // a pin: of an index or of a manifest

  // The reference in its full form; ParseReference reads it back as an equal value.
  std::string ToString() const;

  bool operator==(const ImageReference&) const = default;
};

// Errors: kRequest with what is expected.
Result<ImageReference> ParseReference(std::string_view text);

// The forms of the local store alone. What was imported without a name has only its digest.
Result<ImageReference> ParseStoreName(std::string_view text);

// True when the text may be a tag: [A-Za-z0-9_][A-Za-z0-9._-]{0,127}.
bool IsTag(std::string_view text);

}  // namespace plimsoll::oci
