// The image configuration: what a container of the image runs, and the digests of its layers.
// (OCI image specification, config.md.)
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "json/reader.h"
#include "json/writer.h"
#include "oci/descriptor.h"
#include "oci/digest.h"

namespace plimsoll::oci {

struct ImageConfig {
  Platform platform;
  std::vector<std::string> entrypoint;
  std::vector<std::string> cmd;
  std::vector<std::pair<std::string, std::string>> env;  // in order
  std::string user;              // "", "NAME", "UID", "NAME:GROUP", "UID:GID"
  std::string working_dir;       // "" or a path
  std::vector<Digest> diff_ids;  // of the layers' tar streams, uncompressed, lowest first
};

// Reads the document; what plimsoll does not use (ports, volumes, labels, history) is ignored. No
// text of the result has a NUL byte in it. Errors: kProtocol.
Result<ImageConfig> ParseImageConfig(std::string text, std::string name);
Result<ImageConfig> ReadImageConfig(const json::Value& root);

// The same members in the same form; ReadImageConfig gives an equal value back.
void WriteImageConfig(json::Writer& writer, const ImageConfig& config);

}  // namespace plimsoll::oci
