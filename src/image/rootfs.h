// An image made ready to run: a read-only directory tree and the image's own configuration.
#pragma once

#include <string>

#include "base/error.h"
#include "image/import.h"
#include "oci/digest.h"
#include "oci/image_config.h"
#include "sys/unique_fd.h"

namespace plimsoll::image {

struct Rootfs {
  sys::UniqueFd tree;     // O_PATH directory: the merged tree with the skeleton of mount points
  std::string tree_path;  // absolute path of the same directory
  sys::UniqueFd lock;     // shared lock that keeps `image rm` away; held as long as the run lasts
  oci::ImageConfig config;
  oci::Digest manifest;     // of the image manifest
  std::string environment;  // "oci-image:sha256:..." of the index if the user or the layout gave
                            // one, else of the manifest
};

// "oci-manifest:linux/amd64@sha256:...": which software a run has had.
std::string SoftwareIdentity(const Rootfs& rootfs);

// Finds `reference` in the store at `store_path` and opens its tree, unpacking and merging layers
// that are not there yet; an empty reference is the image embedded in the binary, which needs no
// network and no earlier import. When everything is there already this costs a few system calls.
//
// Errors: kEnvironment when the image is unknown or damaged (with the nearest name as a hint),
// kRequest for a malformed reference, kCapacity when an unpacking limit is hit, kHost otherwise.
Result<Rootfs> PrepareRootfs(const std::string& store_path, const std::string& reference,
                             const ImportOptions& options = {});

}  // namespace plimsoll::image
