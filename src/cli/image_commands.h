// `plimsoll image import|ls|inspect|rm|verify`.
#pragma once

#include "cli/flags.h"

namespace plimsoll::cli {

// Runs the subcommand in `words` (what follows "image"), prints its answer and its errors, and
// returns the exit status: 0; 1 when `verify` found a difference; 125 for every failure.
int RunImageCommand(const Words& words);

}  // namespace plimsoll::cli
