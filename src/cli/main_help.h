// The program's own help, and what to say to a word that is no command.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace plimsoll::cli {

// For `plimsoll -h`: every command in a line.
std::string_view MainHelp();

// Errors: kUsage, with the nearest command as the hint; `word` is empty when none was given.
Error UnknownCommand(const std::string& word);

}  // namespace plimsoll::cli
