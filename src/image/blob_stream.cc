#include "image/blob_stream.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "crypto/sha256.h"
#include "image/block_ring.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;
constexpr std::size_t kHashReader = 0;
constexpr std::size_t kConsumeReader = 1;

// The reading side: fills the ring and keeps what it learns in `facts`.
class Producer {
 public:
  Producer(const BlobSource& source, std::uint64_t max_content, BlockRing& ring,
           const std::function<void(std::uint64_t)>& on_read)
      : source_(source), max_content_(max_content), ring_(ring), on_read_(on_read) {}

  Result<void> Run(BlobFacts& facts) {
    PLIMSOLL_TRY_ASSIGN(std::string_view input, NextInput());
    facts.compression = DetectCompression(input);
    PLIMSOLL_TRY_ASSIGN(const std::unique_ptr<Inflater> inflater,
                        Inflater::Make(facts.compression));
    while (!input.empty()) {
      PLIMSOLL_TRY_ASSIGN(const bool wanted, Inflate(*inflater, input, facts));
      if (!wanted) return {};  // the consumer failed; its error is the one to tell
      PLIMSOLL_TRY_ASSIGN(input, NextInput());
    }
    PassBlock();
    PLIMSOLL_TRY(inflater->Finish());
    facts.size = read_;
    facts.digest.bytes = hash_.Finish();
    return {};
  }

 private:
  // Decompresses all of `input` into blocks, which are passed on when full. False after Cancel().
  Result<bool> Inflate(Inflater& inflater, std::string_view input, BlobFacts& facts) {
    for (;;) {
      if (block_ == nullptr) block_ = ring_.Fill();
      if (block_ == nullptr) return false;
      PLIMSOLL_TRY_ASSIGN(const std::size_t count,
                          inflater.Step(input, block_ + filled_, BlockRing::kBlockBytes - filled_));
      filled_ += count;
      facts.content_size += count;
      if (facts.content_size > max_content_) {
        return Error{.kind = ErrorKind::kCapacity,
                     .what = "unpacks to more than " + FormatBytes(max_content_)};
      }
      if (filled_ == BlockRing::kBlockBytes) {
        PassBlock();
      } else if (input.empty()) {
        return true;  // there was room left, so nothing waits inside the inflater
      }
    }
  }

  void PassBlock() {
    if (filled_ == 0) return;
    ring_.Pass(filled_);
    block_ = nullptr;
    filled_ = 0;
  }

  Result<std::string_view> NextInput() {
    std::string_view input;
    if (source_.fd < 0) {
      input = source_.bytes.substr(read_, kReadBytes);
    } else {
      ssize_t count = 0;
      do {
        count = ::read(source_.fd, buffer_.data(), buffer_.size());
      } while (count < 0 && errno == EINTR);
      if (count < 0) return sys::ErrnoError("read " + Quote(source_.name));
      input = {buffer_.data(), static_cast<std::size_t>(count)};
    }
    read_ += input.size();
    hash_.Update(input);
    if (on_read_) on_read_(read_);
    return input;
  }

  const BlobSource& source_;
  const std::uint64_t max_content_;
  BlockRing& ring_;
  const std::function<void(std::uint64_t)>& on_read_;
  std::vector<char> buffer_ = std::vector<char>(kReadBytes);
  crypto::Sha256 hash_;
  std::uint64_t read_ = 0;
  char* block_ = nullptr;  // the ring's block being filled
  std::size_t filled_ = 0;
};

}  // namespace

Result<BlobFacts> ReadBlob(const BlobSource& source, std::uint64_t max_content,
                           const std::function<Result<void>(const BlockSource&)>& consume,
                           const std::function<void(std::uint64_t)>& on_read) {
  BlobFacts facts;
  const auto ring = std::make_unique<BlockRing>();
  std::optional<Error> read_error;
  std::thread reader([&] {
    if (auto read = Producer(source, max_content, *ring, on_read).Run(facts); !read) {
      read_error = std::move(read).error();
    }
    ring->End();
  });
  std::thread hasher([&] {
    crypto::Sha256 hash;
    for (;;) {
      const std::string_view block = ring->Read(kHashReader);
      if (block.empty()) break;
      hash.Update(block);
    }
    facts.content.bytes = hash.Finish();
  });
  const BlockSource next = [&] { return ring->Read(kConsumeReader); };
  Result<void> consumed = consume(next);
  if (!consumed) ring->Cancel();
  while (consumed && !next().empty()) {
  }
  reader.join();
  hasher.join();
  if (read_error) return *std::move(read_error);
  if (!consumed) return std::move(consumed).error();
  return facts;
}

}  // namespace plimsoll::image
