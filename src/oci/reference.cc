#include "oci/reference.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace plimsoll::oci {
namespace {

// The store keeps name and tag as one file name, which has 255 bytes at most.
constexpr std::size_t kMaxName = 100;
constexpr std::size_t kMaxTag = 128;
constexpr std::size_t kMaxPath = 4095;

constexpr std::array<std::pair<std::string_view, ImageReference::Transport>, 3> kTransports = {{
    {"oci:", ImageReference::Transport::kLayout},
    {"oci-archive:", ImageReference::Transport::kOciArchive},
    {"docker-archive:", ImageReference::Transport::kDockerArchive},
}};

bool IsLower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool IsWord(char c) {
  return IsLower(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

// [a-z0-9]+ with ".", "_", "__" or dashes between (the distribution specification's grammar).
bool IsNameComponent(std::string_view text) {
  if (text.empty() || !IsLower(text.front()) || !IsLower(text.back())) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (IsLower(text[at]) || text[at] == '-') continue;
    if (text[at] != '.' && text[at] != '_') return false;
    const char next = text[at + 1];  // exists: the last character is a letter or digit
    if (IsLower(next)) continue;
    if (text[at] == '.' || next != '_' || !IsLower(text[at + 2])) return false;
    ++at;
  }
  return true;
}

// A registry's host, with a port or not: what comes before the first "/" and has a "." or a ":".
bool IsHost(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view host = text.substr(0, colon);
  if (colon != std::string_view::npos && !ParseUint(text.substr(colon + 1), 65535)) return false;
  if (colon == std::string_view::npos && host.find('.') == std::string_view::npos) return false;
  return !host.empty() && host.front() != '.' && host.front() != '-' &&
         std::all_of(host.begin(), host.end(),
                     [](char c) { return (IsWord(c) && c != '_') || c == '.' || c == '-'; });
}

bool IsName(std::string_view text) {
  if (text.empty() || text.size() > kMaxName) return false;
  const std::vector<std::string_view> parts = Split(text, '/');
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const bool host = at == 0 && parts.size() > 1 && IsHost(parts[at]);
    if (!host && !IsNameComponent(parts[at])) return false;
  }
  return true;
}

Error BadReference(std::string_view text, std::string why) {
  return Error{.kind = ErrorKind::kRequest,
               .what = "image " + Quote(text) + ": " + std::move(why),
               .hint =
                   "expected NAME[:TAG], NAME@sha256:HEX, oci:DIR[:TAG], oci-archive:FILE or "
                   "docker-archive:FILE"};
}

// Cuts "@sha256:..." off the end of `rest`.
Result<std::optional<Digest>> TakeDigest(std::string_view& rest) {
  const std::size_t at = rest.rfind('@');
  if (at == std::string_view::npos || rest.substr(at + 1, 3) != "sha") {
    return std::optional<Digest>();
  }
  PLIMSOLL_TRY_ASSIGN(const Digest digest, ParseDigest(rest.substr(at + 1)));
  rest = rest.substr(0, at);
  return std::optional<Digest>(digest);
}

// Cuts ":TAG" off the end of `rest`, when what follows the last colon may be a tag.
std::string TakeTag(std::string_view& rest) {
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || !IsTag(rest.substr(colon + 1))) return {};
  std::string tag(rest.substr(colon + 1));
  rest = rest.substr(0, colon);
  return tag;
}

Result<ImageReference> ParsePath(std::string_view text, std::string_view rest,
                                 ImageReference::Transport transport) {
  ImageReference reference;
  reference.transport = transport;
  PLIMSOLL_TRY_ASSIGN(reference.digest, TakeDigest(rest));
  if (transport == ImageReference::Transport::kLayout && !reference.digest) {
    reference.tag = TakeTag(rest);
  }
  reference.path = rest;
  if (rest.empty()) return BadReference(text, "the path is missing");
  if (rest.size() > kMaxPath || rest.find('\0') != std::string_view::npos) {
    return BadReference(text.substr(0, 64), "the path is too long or has a NUL byte");
  }
  return reference;
}

}  // namespace

bool IsTag(std::string_view text) {
  return !text.empty() && text.size() <= kMaxTag && IsWord(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsWord(c) || c == '.' || c == '-'; });
}

Result<ImageReference> ParseStoreName(std::string_view text) {
  std::string_view rest = text;
  ImageReference reference;
  if (const auto bare = ParseDigest(text)) {  // as other programs print it
    reference.digest = *bare;
    return reference;
  }
  PLIMSOLL_TRY_ASSIGN(reference.digest, TakeDigest(rest));
  // A colon before a "/" belongs to a registry's port.
  const std::size_t slash = rest.rfind('/');
  const std::size_t colon = rest.rfind(':');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    if (!IsTag(rest.substr(colon + 1))) {
      return BadReference(text, "the tag " + Quote(rest.substr(colon + 1), 64) +
                                    " is no tag ([A-Za-z0-9_][A-Za-z0-9._-]{0,127})");
    }
    reference.tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (!IsName(rest) && !(rest.empty() && reference.digest && reference.tag.empty())) {
    return BadReference(text, Quote(rest, 64) +
                                  " is no image name (lower-case letters, digits and "
                                  "separators, at most 100 bytes)");
  }
  for (const auto& [prefix, transport] : kTransports) {
    if (prefix.substr(0, prefix.size() - 1) == rest) {  // NAME:TAG would be read as a path
      return BadReference(text, Quote(rest) + " is kept for paths and cannot be a name");
    }
  }
  reference.name = rest;
  if (reference.digest) {
    reference.tag.clear();  // the digest decides; a tag beside it is decoration
  } else if (reference.tag.empty()) {
    reference.tag = "latest";
  }
  return reference;
}

Result<ImageReference> ParseReference(std::string_view text) {
  for (const auto& [prefix, transport] : kTransports) {
    if (text.substr(0, prefix.size()) == prefix) {
      return ParsePath(text, text.substr(prefix.size()), transport);
    }
  }
  return ParseStoreName(text);
}

std::string ImageReference::ToString() const {
  std::string text;
  for (const auto& [prefix, of] : kTransports) {
    if (of == transport) text = prefix;
  }
  text += transport == Transport::kStore ? name : path;
  if (!tag.empty()) text += ":" + tag;
  if (digest) text += "@" + digest->ToString();
  return text;
}

}  // namespace plimsoll::oci
