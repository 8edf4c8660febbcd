#include "request/run_request.h"

#include <algorithm>

#include "base/text.h"

namespace plimsoll::request {

std::string CommandText(const Step& step) {
  if (step.shell) {
    const std::size_t first = step.shell->find_first_not_of(' ');
    const bool is_quote = first != std::string::npos && (*step.shell)[first] == '\'';
    return (is_quote ? " " : "") + *step.shell;
  }
  std::string text;
  for (const std::string& word : step.arguments)
    text += (text.empty() ? "" : " ") + SingleQuote(word);
  return text;
}

std::optional<Tier> ParseTier(std::string_view text) {
  if (text == "process") return Tier::kProcess;
  if (text == "container") return Tier::kContainer;
  if (text == "kernel") return Tier::kKernel;
  if (text == "vm") return Tier::kVm;
  return std::nullopt;
}

std::optional<User> ParseUser(std::string_view text) {
  const auto parts = Split(text, ':');
  if (parts.size() > 2 || parts.front().empty() || parts.back().empty()) return std::nullopt;
  return User{.user = std::string(parts[0]),
              .group = parts.size() == 2 ? std::string(parts[1]) : std::string()};
}

bool IsTraceId(std::string_view text) {
  constexpr std::size_t kMostBytes = 64;
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-";
  return !text.empty() && text.size() <= kMostBytes &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::optional<std::string> CleanRelativePath(std::string_view path) {
  if (path.size() > RequestLimits{}.path_bytes || path.starts_with('/') ||
      path.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::string clean;
  for (const std::string_view part : Split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return std::nullopt;
    clean += (clean.empty() ? "" : "/") + std::string(part);
  }
  if (clean.empty()) return std::nullopt;
  return clean;
}

Result<void> CheckSoftwareRule(const SoftwareRule& rule, const std::string& identity) {
  const auto& allowed = rule.identities;
  if (rule.mode == SoftwareRule::Mode::kAny ||
      std::find(allowed.begin(), allowed.end(), identity) != allowed.end()) {
    return {};
  }
  const bool is_exact = rule.mode == SoftwareRule::Mode::kExact;
  return Error{.kind = ErrorKind::kEnvironment,
               .what = "the request's software rule does not allow the image " + identity,
               .hint = is_exact ? "it demands " + Quote(allowed.empty() ? "" : allowed.front())
                                : "it approves " + std::to_string(allowed.size()) +
                                      " other identities, and this one is none of them"};
}

}  // namespace plimsoll::request
