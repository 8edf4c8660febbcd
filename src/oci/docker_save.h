// manifest.json of an archive that `docker save` or `podman save` wrote.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace plimsoll::oci {

struct DockerSaveImage {
  std::string config;                  // the configuration's path in the archive
  std::vector<std::string> repo_tags;  // "python:3.12"
  std::vector<std::string> layers;     // the layers' paths in the archive, lowest first
};

// Errors: kProtocol; kCapacity for more images or layers than a manifest may have.
Result<std::vector<DockerSaveImage>> ParseDockerSave(std::string text, std::string name);

}  // namespace plimsoll::oci
