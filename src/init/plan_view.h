// A mapped plan, read with every offset checked.
#pragma once

#include "init/wire.h"

namespace plimsoll::init {

struct Blob {
  const unsigned char* data;
  uint32_t size;
};

// A checked view of a plan. It does not own the bytes, which must not change while it is in use.
class PlanView {
 public:
  // Takes `size` bytes at `bytes`. False when they are no plan of this version: wrong magic, a
  // table or pool outside the bytes, a pool that does not begin and end with NUL, phases that go
  // back, or a text or blob outside the pool.
  bool Parse(const unsigned char* bytes, uint64_t size);

  uint32_t StepCount() const { return header_.step_count; }
  const Step& At(uint32_t index) const { return steps_[index]; }
  // NUL-terminated; the empty text for offset 0.
  const char* Text(const Step& step, int which) const;
  Blob BlobOf(const Step& step) const { return {pool_ + step.blob, step.blob_size}; }

 private:
  bool StepIsSound(const Step& step) const;

  Header header_;
  const Step* steps_;
  const unsigned char* pool_;
};

}  // namespace plimsoll::init
