// `plimsoll policy show|derive|diff|digest|check|explain`.
#pragma once

#include "cli/flags.h"

namespace plimsoll::cli {

// Runs the subcommand in `words` (what follows "policy"), prints its answer and its errors, and
// returns the exit status: 0; 1 when `diff` found a difference that was not expected or `check`
// something wrong; 2 for every failure of those two, 125 for every failure of the others.
int RunPolicyCommand(const Words& words);

}  // namespace plimsoll::cli
