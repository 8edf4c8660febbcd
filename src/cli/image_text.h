// The answers of the image commands, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "image/layer_facts.h"
#include "image/record.h"
#include "image/remove.h"
#include "image/verify.h"

namespace plimsoll::cli {

// A table, one image a line; {"images":[...]}.
std::string ImagesTable(const std::vector<image::ImageRecord>& records);
std::string ImagesJson(const std::vector<image::ImageRecord>& records);

// Everything that is known of one image; `facts` has one item for each layer.
std::string ImageText(const image::ImageRecord& record,
                      const std::vector<image::LayerFacts>& facts);
std::string ImageJson(const image::ImageRecord& record,
                      const std::vector<image::LayerFacts>& facts);

std::string RemovedText(const image::Removed& removed);
std::string RemovedJson(const image::Removed& removed);

std::string VerificationText(const image::Verification& verification);
std::string VerificationJson(const image::Verification& verification);

}  // namespace plimsoll::cli
