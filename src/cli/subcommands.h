// Commands that are chosen by a word: finding the one that was meant, and giving its answer.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/exit_status.h"
#include "cli/flags.h"

namespace plimsoll::cli {

// What goes to standard output, and the exit status.
struct Answer {
  std::string text;
  int status = 0;
};

struct Subcommand {
  std::string_view name;
  Result<Answer> (*run)(const Words& words);  // what follows the name
  int failure = kRunnerFailed;                // the exit status when `run` gives an error
};

// `plimsoll NAME COMMAND`.
struct CommandGroup {
  std::string_view name;
  std::string_view usage;  // what `plimsoll NAME -h` prints
  std::span<const Subcommand> subcommands;
};

// Runs the subcommand that `words` (what follows the group's name) begin with, prints its answer or
// its error, and returns the exit status.
int RunSubcommand(const CommandGroup& group, const Words& words);

// `word` is no command of `group`, or of the program itself when that is empty. The hint names the
// nearest of `names`. `word` is empty when none was given.
Error UnknownCommand(std::string_view group, const std::string& word,
                     const std::vector<std::string_view>& names);

}  // namespace plimsoll::cli
