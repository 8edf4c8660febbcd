#include "cli/subcommands.h"

#include "base/text.h"
#include "cli/report.h"

namespace plimsoll::cli {

int RunSubcommand(const CommandGroup& group, const Words& words) {
  const bool json = WantsJson(words);
  const std::string first = words.empty() ? "" : words[0];
  if (first == "-h" || first == "--help") return PrintAnswer(group.usage) ? 0 : kRunnerFailed;
  std::vector<std::string_view> names;
  for (const Subcommand& subcommand : group.subcommands) {
    names.push_back(subcommand.name);
    if (subcommand.name != first) continue;
    const auto answer = subcommand.run(Words(words.begin() + 1, words.end()));
    if (!answer) return Fail(answer.error(), json, subcommand.failure);
    return PrintAnswer(answer->text) ? answer->status : kRunnerFailed;
  }
  return Fail(UnknownCommand(group.name, first, names), json);
}

Error UnknownCommand(std::string_view group, const std::string& word,
                     const std::vector<std::string_view>& names) {
  const std::string prefix = group.empty() ? "" : std::string(group) + " ";
  std::string nearest = DidYouMean(word, names);
  if (!nearest.empty()) nearest += " ";
  return {.kind = ErrorKind::kUsage,
          .what = word.empty() ? "no " + prefix + "command was given"
                               : "unknown " + prefix + "command " + Quote(word),
          .hint = nearest + "'plimsoll " + prefix + "-h' lists the commands"};
}

}  // namespace plimsoll::cli
