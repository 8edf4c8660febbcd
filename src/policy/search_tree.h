// The cheapest way to find a system call number's range by comparisons.
//
// Loading a filter costs by its length (checks, translation, machine code) and by its depth: the
// kernel walks it once for each system call number, to find those that it always allows. Both were
// measured, and the tree with the lowest sum is searched for exactly, over all trees of two forms:
// "number >= border" halves a run of ranges, and in a run that is one decision but for single
// numbers, "number == n" picks those out one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/bpf.h"

namespace plimsoll::policy {

// The numbers from `first` up to the next range go to `target`.
struct SearchRange {
  std::uint32_t first;
  Assembler::Label target;
};

// Appends the comparisons to `assembler`, with the number in the accumulator. `ranges` are in order
// and begin at 0; neighbours have different targets. Time and memory: the third and second power
// of the number of ranges (a hundred for a container engine's profile).
void EmitSearch(const std::vector<SearchRange>& ranges, Assembler& assembler);

}  // namespace plimsoll::policy
