// The guest's program: its arguments, its environment, and the directory it starts in.

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "plan/draft.h"

namespace plimsoll::plan {
namespace {

constexpr std::string_view kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::string_view kDefaultWorkdir = "/work";

using Environment = std::vector<std::pair<std::string, std::string>>;

// Variables in the order of their first setting, each name once. Indexed, since a caller may pass
// tens of thousands.
class EnvironmentBuilder {
 public:
  void Set(const std::string& name, std::string_view value) {
    const auto [place, is_new] = places_.try_emplace(name, variables_.size());
    if (is_new) {
      variables_.emplace_back(name, value);
    } else {
      variables_[place->second].second = value;
    }
  }
  Environment Take() { return std::move(variables_); }

 private:
  Environment variables_;
  std::unordered_map<std::string, std::size_t> places_;
};

Environment MakeEnvironment(const Input& input, const std::string& workdir) {
  EnvironmentBuilder environment;
  environment.Set("PATH", kDefaultPath);
  environment.Set("HOME", kDefaultWorkdir);
  environment.Set("HOSTNAME", "plimsoll");
  environment.Set("PWD", workdir);
  for (const auto& [name, value] : input.rootfs.config.env)
    environment.Set(name, value);
  for (const auto& [name, value] : input.request.environment)
    environment.Set(name, value);
  return environment.Take();
}

Error NulError(std::string_view where, const std::string& text) {
  return {.kind = ErrorKind::kRequest,
          .what = std::string(where) + Quote(text) + " has a NUL byte"};
}

// No text with a NUL can be an argument or a variable of a program.
Result<void> RefuseNul(const GuestProcess& process) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  for (const Command& command : process.commands) {
    const auto& words = command.arguments;
    const auto bad = std::find_if(words.begin(), words.end(), has_nul);
    if (bad != words.end()) return NulError("argument ", *bad);
  }
  for (const auto& [name, value] : process.environment) {
    if (has_nul(name) || has_nul(value) || name.find('=') != std::string::npos) {
      return Error{
          .kind = ErrorKind::kRequest,
          .what = "environment variable " + Quote(name) + " has a NUL byte, or '=' in its name"};
    }
  }
  return {};
}

// A shell command as the vector that runs it; a vector that is empty as the image's own.
Result<Command> ResolveCommand(request::Step step, const oci::ImageConfig& config) {
  if (!step.shell && step.arguments.empty()) {
    step.arguments = config.entrypoint;
    step.arguments.insert(step.arguments.end(), config.cmd.begin(), config.cmd.end());
  }
  if (!step.shell && step.arguments.empty()) {
    return Error{.kind = ErrorKind::kUsage,
                 .what = "no command was given and the image names none",
                 .hint = "plimsoll exec [FLAGS] [--] COMMAND [ARG...]"};
  }
  std::string text = request::CommandText(step);
  if (step.shell) step.arguments = {"/bin/sh", "-c", *std::move(step.shell)};
  return Command{.arguments = std::move(step.arguments), .text = std::move(text)};
}

}  // namespace

Result<GuestProcess> ResolveProcess(const Input& input) {
  const oci::ImageConfig& config = input.rootfs.config;
  GuestProcess process;
  for (const request::Step& step : input.request.steps) {
    PLIMSOLL_TRY_ASSIGN(Command command, ResolveCommand(step, config));
    process.commands.push_back(std::move(command));
  }
  process.workdir = !input.request.workdir.empty() ? input.request.workdir
                    : !config.working_dir.empty()  ? config.working_dir
                                                   : std::string(kDefaultWorkdir);
  if (!process.workdir.starts_with('/')) {
    return Error{.kind = ErrorKind::kRequest,
                 .what = "--workdir " + Quote(process.workdir) + " is not an absolute path"};
  }
  process.environment = MakeEnvironment(input, process.workdir);
  for (const auto& [name, value] : process.environment) {
    if (name == "PATH") process.search_path = value;
  }
  PLIMSOLL_TRY(RefuseNul(process));
  return process;
}

}  // namespace plimsoll::plan
