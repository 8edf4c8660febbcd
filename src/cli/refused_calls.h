// The system calls that a learning run has seen refused, for people.
#pragma once

#include <string>
#include <vector>

#include "result/run_result.h"

namespace plimsoll::cli {

// The call's name on x86-64; empty for a number without one, and for a call by another gate
// (int $0x80), whose numbers mean something else.
std::string CallName(const result::RefusedCall& call);

// One sentence for each, and one for those that were not counted.
std::vector<std::string> RefusedCallNotes(const result::RunResult& result);

}  // namespace plimsoll::cli
