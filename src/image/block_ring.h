// A bounded ring of blocks between one thread that fills them and two that read all of them.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string_view>
#include <vector>

namespace plimsoll::image {

// The producer fills a block and passes it on; each of the two readers sees every block, in order,
// and gives it back. A block is filled again when both have given it back, so memory is bounded
// whoever is slow. Closing from any side wakes all.
class BlockRing {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{256} << 10U;
  static constexpr std::size_t kBlocks = 16;
  static constexpr std::size_t kReaders = 2;

  BlockRing();

  // Producer: the next block to fill, kBlockBytes long; null after Cancel().
  char* Fill();
  // Producer: passes on the first `size` bytes of the block of the last Fill().
  void Pass(std::size_t size);
  // Producer: nothing more comes.
  void End();

  // Reader `reader` (0 or 1): the next block, valid until this reader's next call; empty at the
  // end and after Cancel().
  std::string_view Read(std::size_t reader);

  // A reader gives up: the producer stops at its next Fill().
  void Cancel();

 private:
  struct Block {
    std::vector<char> bytes = std::vector<char>(kBlockBytes);
    std::size_t size = 0;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Block, kBlocks> blocks_;
  std::size_t passed_ = 0;                       // blocks passed on so far
  std::array<std::size_t, kReaders> read_ = {};  // blocks given back by each reader
  std::array<bool, kReaders> reading_ = {};      // holds a block
  bool ended_ = false;
  bool cancelled_ = false;
};

}  // namespace plimsoll::image
