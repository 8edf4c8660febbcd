// Any bytes as a REQUEST.json: they are refused, or what comes of them keeps to the limits.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "request/parse.h"

namespace {

using plimsoll::request::RequestLimits;

bool IsSound(const plimsoll::request::RunRequest& request) {
  constexpr RequestLimits kLimits;
  bool is_sound = !request.steps.empty() && request.steps.size() <= kLimits.steps &&
                  request.files.size() <= kLimits.files &&
                  request.artifacts.size() <= kLimits.artifacts;
  for (const auto& file : request.files)
    is_sound = is_sound && plimsoll::request::CleanRelativePath(file.path) == file.path;
  for (const auto& artifact : request.artifacts)
    is_sound = is_sound && plimsoll::request::CleanRelativePath(artifact.path) == artifact.path;
  for (const auto& step : request.steps)
    is_sound = is_sound && !plimsoll::request::CommandText(step).empty();
  return is_sound;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request =
      plimsoll::request::Parse(std::string(reinterpret_cast<const char*>(data), size), "request");
  if (request && !IsSound(*request)) ::abort();
  return 0;
}
