// What the user reads: errors and notes on standard error, answers on standard output.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace plimsoll::cli {

// "plimsoll: ..." and, when there is one, "plimsoll: hint: ...", on standard error.
void PrintError(const Error& error);
// "plimsoll: ..." on standard error.
void PrintNote(std::string_view text);
// `text` as it is, on standard output. False when it could not be written (a full disk, a reader
// that has left).
bool PrintAnswer(std::string_view text);

}  // namespace plimsoll::cli
