#include "image/entry_path.h"

#include "base/text.h"

namespace plimsoll::image {
namespace {

constexpr std::size_t kMaxComponent = 255;  // NAME_MAX

Error BadName(ErrorKind kind, std::string_view raw, const std::string& why) {
  return Error{.kind = kind, .what = "entry name " + Quote(raw, 128) + " " + why};
}

}  // namespace

Result<std::string> CleanEntryPath(std::string_view raw, const Limits& limits) {
  if (raw.size() > limits.path_bytes) {
    return BadName(ErrorKind::kCapacity, raw,
                   "is longer than " + std::to_string(limits.path_bytes) + " bytes");
  }
  if (raw.find('\0') != std::string_view::npos) {
    return BadName(ErrorKind::kProtocol, raw, "has a NUL byte");
  }
  std::string path;
  std::size_t depth = 0;
  for (const std::string_view part : Split(raw, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return BadName(ErrorKind::kProtocol, raw, "has a component '..'");
    if (part.size() > kMaxComponent) {
      return BadName(ErrorKind::kProtocol, raw, "has a component longer than 255 bytes");
    }
    if (++depth > limits.path_depth) {
      return BadName(ErrorKind::kCapacity, raw,
                     "has more than " + std::to_string(limits.path_depth) + " components");
    }
    if (!path.empty()) path += '/';
    path += part;
  }
  return path;
}

std::string_view ParentOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view NameOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace plimsoll::image
