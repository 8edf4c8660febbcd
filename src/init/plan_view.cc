#include "init/plan_view.h"

namespace plimsoll::init {

bool PlanView::Parse(const unsigned char* bytes, uint64_t size) {
  if (size < sizeof(Header) || size > kMaxPlanBytes) return false;
  header_ = *reinterpret_cast<const Header*>(bytes);
  if (header_.magic != kMagic || header_.version != kVersion || header_.total_size != size ||
      header_.step_count == 0 || header_.step_count > kMaxSteps ||
      header_.steps_offset != sizeof(Header)) {
    return false;
  }
  const uint64_t steps_end = sizeof(Header) + uint64_t{header_.step_count} * sizeof(Step);
  if (header_.pool_offset != steps_end || header_.pool_size == 0 ||
      steps_end + header_.pool_size != size) {
    return false;
  }
  steps_ = reinterpret_cast<const Step*>(bytes + sizeof(Header));
  pool_ = bytes + header_.pool_offset;
  // A NUL at both ends: offset 0 is the empty text, and no text runs out of the pool.
  if (pool_[0] != 0 || pool_[header_.pool_size - 1] != 0) return false;
  Phase phase = Phase::kLaunch;
  for (uint32_t i = 0; i < header_.step_count; ++i) {
    if (steps_[i].phase < phase || steps_[i].phase > Phase::kAfter) return false;
    phase = steps_[i].phase;
    if (!StepIsSound(steps_[i])) return false;
  }
  return true;
}

bool PlanView::StepIsSound(const Step& step) const {
  for (const uint32_t offset : step.text) {
    if (offset >= header_.pool_size) return false;
  }
  return step.reserved == 0 && step.blob <= header_.pool_size &&
         step.blob_size <= header_.pool_size - step.blob;
}

const char* PlanView::Text(const Step& step, int which) const {
  return reinterpret_cast<const char*>(pool_ + step.text[which]);
}

}  // namespace plimsoll::init
