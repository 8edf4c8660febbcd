// `plimsoll keygen`, `plimsoll verify` and `plimsoll show`.
#pragma once

#include "cli/flags.h"

namespace plimsoll::cli {

// Each takes what follows its name, prints its answer and its errors, and returns the exit status.

// 0, or 125.
int RunKeygen(const Words& words);
// 0; 1 when the bundle does not verify; 2 when it cannot be read or the command line is wrong.
int RunVerify(const Words& words);
// 0; 1 when the line that is shown does not verify; 2 as above.
int RunShow(const Words& words);

}  // namespace plimsoll::cli
