#include "plan/plan_reader.h"

#include <cstring>

namespace plimsoll::plan {

std::vector<StepView> ReadSteps(const std::string& bytes) {
  init::Header header = {};
  std::memcpy(&header, bytes.data(), sizeof header);
  const char* pool = bytes.data() + header.pool_offset;
  std::vector<StepView> views;
  views.reserve(header.step_count);
  for (std::uint32_t i = 0; i < header.step_count; ++i) {
    init::Step step = {};
    std::memcpy(&step, bytes.data() + header.steps_offset + i * sizeof step, sizeof step);
    views.push_back({.phase = step.phase,
                     .kind = step.kind,
                     .text = {pool + step.text[0], pool + step.text[1], pool + step.text[2]},
                     .blob = std::string_view(pool + step.blob, step.blob_size),
                     .number = {step.number[0], step.number[1], step.number[2], step.number[3]}});
  }
  return views;
}

}  // namespace plimsoll::plan
