// What the subcommands' parsers share: words to CLI11 and its complaints to errors.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "base/error.h"

namespace plimsoll::cli {

// Splits `words` where the flags of `app` end: at the first operand, or behind "--". What is left
// in `words` are flags with their values; the operands are returned.
//
// Errors: kUsage for a flag that `app` does not have, with the nearest one as the hint.
Result<std::vector<std::string>> TakeOperands(const CLI::App& app, std::vector<std::string>& words);

// Lets `app` parse `words`; true when help was asked for. Errors: kUsage.
Result<bool> ParseFlags(CLI::App& app, std::vector<std::string> words);

// What follows the name in the first line of the help.
void SetUsage(CLI::App& app, std::string arguments);

// A usage error that says where to look.
Error UsageError(const CLI::App& app, std::string what, std::string hint = {});

}  // namespace plimsoll::cli
