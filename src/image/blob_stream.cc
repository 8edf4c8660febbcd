#include "image/blob_stream.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>
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

// The next piece of the blob; empty at its end. Not read(2): two threads read the same file.
Result<std::string_view> ReadAt(const BlobSource& source, std::uint64_t at,
                                std::vector<char>& buffer) {
  if (source.fd < 0) return source.bytes.substr(at, buffer.size());
  for (;;) {
    const ssize_t count = ::pread(source.fd, buffer.data(), buffer.size(), static_cast<off_t>(at));
    if (count >= 0) return std::string_view(buffer.data(), static_cast<std::size_t>(count));
    if (errno != EINTR) return sys::ErrnoError("read " + Quote(source.name));
  }
}

// The reading side: fills the ring and keeps what it learns in `facts`.
class Producer {
 public:
  Producer(const BlobSource& source, std::uint64_t max_content, BlockRing& ring,
           const std::function<void(std::uint64_t)>& on_read)
      : source_(source), max_content_(max_content), ring_(ring), on_read_(on_read) {}

  Result<void> Run(bool check, BlobFacts& facts) {
    PLIMSOLL_TRY_ASSIGN(std::string_view input, NextInput());
    facts.compression = DetectCompression(input);
    PLIMSOLL_TRY_ASSIGN(const std::unique_ptr<Inflater> inflater,
                        Inflater::Make(facts.compression, check));
    while (!input.empty()) {
      PLIMSOLL_TRY_ASSIGN(const bool wanted, Inflate(*inflater, input, facts));
      if (!wanted) return {};  // the consumer failed; its error is the one to tell
      PLIMSOLL_TRY_ASSIGN(input, NextInput());
    }
    PassBlock();
    PLIMSOLL_TRY(inflater->Finish());
    facts.size = read_;
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
    PLIMSOLL_TRY_ASSIGN(const std::string_view input, ReadAt(source_, read_, buffer_));
    read_ += input.size();
    if (on_read_) on_read_(read_);
    return input;
  }

  const BlobSource& source_;
  const std::uint64_t max_content_;
  BlockRing& ring_;
  const std::function<void(std::uint64_t)>& on_read_;
  std::vector<char> buffer_ = std::vector<char>(kReadBytes);
  std::uint64_t read_ = 0;
  char* block_ = nullptr;  // the ring's block being filled
  std::size_t filled_ = 0;
};

// Threads that are joined, however few of them could be started.
class Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  Threads(Threads&&) = delete;
  Threads& operator=(Threads&&) = delete;
  ~Threads() { Join(); }

  // False when the system has no thread left.
  template <typename Work>
  bool Start(Work work) {
    try {
      threads_.emplace_back(std::move(work));
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }
  void Join() {
    for (std::thread& thread : threads_)
      thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

Error NoThread() {
  return Error{.kind = ErrorKind::kCapacity,
               .what = "no thread can be started to unpack a layer",
               .hint = "the limit on processes is too low (ulimit -u)"};
}

oci::Digest HashContent(BlockRing& ring) {
  crypto::Sha256 hash;
  for (;;) {
    const std::string_view block = ring.Read(kHashReader);
    if (block.empty()) return {hash.Finish()};
    hash.Update(block);
  }
}

}  // namespace

oci::Digest HashBlob(const BlobSource& source, const std::atomic<bool>& stop) {
  std::vector<char> buffer(kReadBytes);
  crypto::Sha256 hash;
  for (std::uint64_t at = 0; !stop;) {
    const auto piece = ReadAt(source, at, buffer);
    if (!piece || piece->empty()) break;
    hash.Update(*piece);
    at += piece->size();
  }
  return {hash.Finish()};
}

Result<BlobFacts> ReadBlob(const BlobSource& source, std::uint64_t max_content,
                           const std::function<Result<void>(const BlockSource&)>& consume,
                           const std::function<void(std::uint64_t)>& on_read, bool check) {
  BlobFacts facts;
  oci::Digest content;
  oci::Digest digest;
  std::atomic<bool> failed = false;
  const auto ring = std::make_unique<BlockRing>();
  std::optional<Error> read_error;
  Threads threads;
  bool started = threads.Start([&] {
    if (auto read = Producer(source, max_content, *ring, on_read).Run(check, facts); !read) {
      read_error = std::move(read).error();
      failed = true;
    }
    ring->End();
  });
  started = started && threads.Start([&] { content = HashContent(*ring); });
  started = started && threads.Start([&] { digest = HashBlob(source, failed); });
  const BlockSource next = [&] { return ring->Read(kConsumeReader); };
  Result<void> consumed = started ? consume(next) : NoThread();
  if (!consumed) {
    failed = true;
    ring->Cancel();
  }
  while (consumed && !next().empty()) {
  }
  threads.Join();
  if (read_error) return *std::move(read_error);
  if (!consumed) return std::move(consumed).error();
  facts.digest = digest;
  facts.content = content;
  return facts;
}

}  // namespace plimsoll::image
