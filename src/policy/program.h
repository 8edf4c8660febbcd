// Verdicts as the filter that the kernel runs.
#pragma once

#include "policy/bpf.h"
#include "policy/verdicts.h"

namespace plimsoll::policy {

// The filter for x86-64. It looks at the architecture first and refuses every other one with
// EPERM, so that `int $0x80` and its numbers never meet our rules. x32 calls are of the same
// architecture and have bit 30 set in their number: `verdicts` decides on them like on any number.
// Error: kCapacity, see Assembler::Finish.
Result<Program> EmitProgram(const Verdicts& verdicts);

}  // namespace plimsoll::policy
