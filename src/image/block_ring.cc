#include "image/block_ring.h"

#include <algorithm>

namespace plimsoll::image {

BlockRing::BlockRing() = default;

char* BlockRing::Fill() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return cancelled_ || passed_ - *std::min_element(read_.begin(), read_.end()) < kBlocks;
  });
  return cancelled_ ? nullptr : blocks_[passed_ % kBlocks].bytes.data();
}

void BlockRing::Pass(std::size_t size) {
  {
    const std::scoped_lock lock(mutex_);
    blocks_[passed_ % kBlocks].size = size;
    ++passed_;
  }
  changed_.notify_all();
}

void BlockRing::End() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

std::string_view BlockRing::Read(std::size_t reader) {
  std::unique_lock lock(mutex_);
  if (reading_[reader]) {
    reading_[reader] = false;
    ++read_[reader];
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return cancelled_ || ended_ || read_[reader] < passed_; });
  if (cancelled_ || read_[reader] == passed_) return {};
  reading_[reader] = true;
  const Block& block = blocks_[read_[reader] % kBlocks];
  return {block.bytes.data(), block.size};
}

void BlockRing::Cancel() {
  {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
}

}  // namespace plimsoll::image
