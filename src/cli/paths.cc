#include "cli/paths.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>

#include "sys/file.h"

namespace plimsoll::cli {
namespace {

// The variable when it holds an absolute path; the specification has relative ones ignored.
std::string AbsoluteVariable(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this process has one thread
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::string BaseDirectory(const char* variable, const char* below_home) {
  std::string base = AbsoluteVariable(variable);
  if (!base.empty()) return base + "/plimsoll";
  base = AbsoluteVariable("HOME");
  return base.empty() ? "" : base + below_home + "/plimsoll";
}

}  // namespace

Result<std::string> StorePath(const std::string& given) {
  if (given.starts_with('/')) return given;
  if (!given.empty()) {
    std::array<char, PATH_MAX> current = {};
    if (::getcwd(current.data(), current.size()) == nullptr) return sys::ErrnoError("getcwd");
    return std::string(current.data()) + "/" + given;
  }
  std::string path = BaseDirectory("XDG_DATA_HOME", "/.local/share");
  if (!path.empty()) return path;
  return Error{.kind = ErrorKind::kRequest,
               .what = "no place for the image store: HOME and XDG_DATA_HOME are not set",
               .hint = "set HOME, or name a folder with --store"};
}

std::string ConfigPath() {
  return BaseDirectory("XDG_CONFIG_HOME", "/.config");
}

std::vector<std::string> UserKeyPaths(const std::string& store) {
  std::vector<std::string> paths;
  for (const std::string& folder : {ConfigPath(), store}) {
    if (!folder.empty()) paths.push_back(folder + "/harness.key");
  }
  return paths;
}

}  // namespace plimsoll::cli
