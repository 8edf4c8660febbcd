// Writes a sandbox plan in the form of init/wire.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "init/wire.h"

namespace plimsoll::plan {

// A step as its maker sees it. What the members mean stands with each StepKind.
struct StepDraft {
  init::Phase phase;
  init::StepKind kind;
  std::array<std::string, 3> text = {};
  std::string blob = {};
  std::array<std::uint64_t, 4> number = {};
};

class PlanWriter {
 public:
  // Room for a usual plan, so that it is not moved while it grows.
  PlanWriter() {
    steps_.reserve(128);
    pool_.reserve(8192);
  }

  std::size_t StepCount() const { return steps_.size(); }

  // Appends a step; phases must not go back.
  void Add(const StepDraft& step);

  // The plan's bytes; equal texts share their place in the pool. The same steps give the same
  // bytes.
  std::string Finish() const;

 private:
  std::uint32_t PutText(const std::string& text);
  std::uint32_t PutBlob(const std::string& blob);

  std::vector<init::Step> steps_;
  std::string pool_ = std::string(1, '\0');               // offset 0 is the empty text
  std::unordered_map<std::string, std::uint32_t> texts_;  // where in the pool each is
};

}  // namespace plimsoll::plan
