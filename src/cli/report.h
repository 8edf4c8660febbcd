// What the user reads: errors and notes on standard error, answers on standard output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/exit_status.h"

namespace plimsoll::cli {

// "plimsoll: ..." and, when there is one, "plimsoll: hint: ...", on standard error.
void PrintError(const Error& error);
// "plimsoll: ..." on standard error.
void PrintNote(std::string_view text);
// `text` as it is, on standard output. False when it could not be written (a full disk, a reader
// that has left).
bool PrintAnswer(std::string_view text);

// Whether `words`, a command's own, ask for JSON: known before they are parsed, since that can
// fail.
bool WantsJson(const std::vector<std::string>& words);
// The end of a command that failed: prints the error and, with `json`, the one document that
// whoever reads standard output waits for. Returns `status`.
int Fail(const Error& error, bool json, int status = kRunnerFailed);

}  // namespace plimsoll::cli
