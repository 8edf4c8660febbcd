#include "image/import_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "base/text.h"

namespace plimsoll::image {
namespace {

// What names of Docker's own registry are known without.
constexpr std::array<std::string_view, 2> kImpliedPrefixes = {"docker.io/library/", "docker.io/"};
constexpr std::array<std::string_view, 6> kArchiveSuffixes = {".gz",  ".zst", ".tgz",
                                                              ".tar", ".oci", ".docker"};

std::string Familiar(std::string_view name) {
  for (const std::string_view prefix : kImpliedPrefixes) {
    if (name.substr(0, prefix.size()) == prefix) return std::string(name.substr(prefix.size()));
  }
  return std::string(name);
}

// "python-3.12" of "/tmp/Python-3.12.tar.gz".
std::string NameOfPath(const std::string& path) {
  std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  std::string name = normal.filename().string();
  for (const std::string_view suffix : kArchiveSuffixes) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      name.resize(name.size() - suffix.size());
    }
  }
  for (char& byte : name) {
    const auto code = static_cast<unsigned char>(byte);
    byte = std::isalnum(code) != 0 || byte == '.' || byte == '_' || byte == '-'
               ? static_cast<char>(std::tolower(code))
               : '-';
  }
  return name;
}

Result<oci::ImageReference> NameFromSource(const ImportRequest& request, const std::string& name) {
  const bool bare_tag = oci::IsTag(name);
  auto reference =
      oci::ParseStoreName(bare_tag ? NameOfPath(request.path) + ":" + name : Familiar(name));
  if (reference && !reference->digest) return reference;
  return Error{.kind = ErrorKind::kRequest,
               .what = "no image name can be made of " + Quote(bare_tag ? request.path : name),
               .hint = "give one with --name NAME[:TAG]"};
}

}  // namespace

Result<std::vector<oci::ImageReference>> NamesFor(const ImportRequest& request,
                                                  const FoundImage& image) {
  if (request.name) return std::vector<oci::ImageReference>{*request.name};
  if (request.unnamed) {
    oci::ImageReference reference;
    reference.digest = image.manifest;
    return std::vector<oci::ImageReference>{reference};
  }
  std::vector<std::string> names = image.names;
  if (names.empty()) names.emplace_back("latest");
  std::vector<oci::ImageReference> references;
  for (const std::string& name : names) {
    PLIMSOLL_TRY_ASSIGN(oci::ImageReference reference, NameFromSource(request, name));
    references.push_back(std::move(reference));
  }
  return references;
}

Result<void> CheckCount(const ImportRequest& request, const std::vector<FoundImage>& images) {
  if (images.size() < 2 || (!request.name && !request.unnamed)) return {};
  std::string list;
  for (const FoundImage& image : images) {
    list += (list.empty() ? "" : ", ") +
            (image.names.empty() ? image.manifest.ToString() : Quote(image.names.front(), 64));
  }
  return Error{
      .kind = ErrorKind::kRequest,
      .what = Quote(request.source) + " has " + std::to_string(images.size()) + " images: " + list,
      .hint = "choose one with a tag (oci:DIR:TAG) or a digest (...@sha256:HEX)"};
}

}  // namespace plimsoll::image
