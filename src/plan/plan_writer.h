// Writes a sandbox plan in the form of init/wire.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "init/wire.h"

namespace plimsoll::plan {

// One step before its texts are put into the pool. What the members mean stands with each StepKind.
struct StepDraft {
  init::Phase phase;
  init::StepKind kind;
  std::array<std::string, 3> text = {};
  std::string blob = {};
  std::array<std::uint64_t, 4> number = {};
};

class PlanWriter {
 public:
  // Appends a step; phases must not go back.
  void Add(StepDraft step) { steps_.push_back(std::move(step)); }

  // The plan's bytes; equal texts share their place in the pool. The same steps give the same
  // bytes.
  std::string Finish() const;

 private:
  std::vector<StepDraft> steps_;
};

}  // namespace plimsoll::plan
