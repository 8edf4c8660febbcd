#include "image/inflate.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace plimsoll::image {
namespace {

// The largest window that a zstd stream may ask for: 2^27, as the zstd tool has it.
constexpr int kZstdWindowLog = 27;

Error Broken(std::string_view format, std::string_view why) {
  return Error{.kind = ErrorKind::kProtocol,
               .what = "the " + std::string(format) + " stream is broken: " + std::string(why)};
}

class Copier : public Inflater {
 public:
  Result<std::size_t> Step(std::string_view& input, char* output, std::size_t size) override {
    const std::size_t count = std::min(size, input.size());
    std::memcpy(output, input.data(), count);
    input.remove_prefix(count);
    return count;
  }
  Result<void> Finish() override { return {}; }
};

class GzipInflater : public Inflater {
 public:
  explicit GzipInflater(bool check) {
    ready_ = ::inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK &&
             ::inflateValidate(&stream_, check ? 1 : 0) == Z_OK;
  }
  GzipInflater(const GzipInflater&) = delete;
  GzipInflater& operator=(const GzipInflater&) = delete;
  GzipInflater(GzipInflater&&) = delete;
  GzipInflater& operator=(GzipInflater&&) = delete;
  ~GzipInflater() override { (void)::inflateEnd(&stream_); }

  bool IsReady() const { return ready_; }

  Result<std::size_t> Step(std::string_view& input, char* output, std::size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(output);
    stream_.avail_out = static_cast<uInt>(size);
    // Called even without input: output may still wait inside.
    do {
      if (between_members_) {
        if (input.empty()) break;
        (void)::inflateReset(&stream_);
        between_members_ = false;
      }
      // zlib reads through this pointer only; its type is older than const.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
      stream_.avail_in = static_cast<uInt>(std::min(input.size(), kMaxInput));
      const uInt offered = stream_.avail_in;
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      input.remove_prefix(offered - stream_.avail_in);
      if (status == Z_STREAM_END) {
        between_members_ = true;
      } else if (status == Z_BUF_ERROR) {
        break;  // no progress without more input or more room
      } else if (status != Z_OK) {
        return Broken("gzip", stream_.msg != nullptr ? stream_.msg : "unknown error");
      }
    } while (!input.empty() && stream_.avail_out != 0);
    return size - stream_.avail_out;
  }

  Result<void> Finish() override {
    if (between_members_) return {};
    return Broken("gzip", "it stops before its end");
  }

 private:
  static constexpr std::size_t kMaxInput = std::size_t{1} << 30U;  // avail_in has 32 bits

  z_stream stream_ = {};
  bool ready_ = false;
  bool between_members_ = false;
};

class ZstdInflater : public Inflater {
 public:
  ZstdInflater() {
    if (stream_ == nullptr) return;
    (void)::ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kZstdWindowLog);
  }

  bool IsReady() const { return stream_ != nullptr; }

  Result<std::size_t> Step(std::string_view& input, char* output, std::size_t size) override {
    ZSTD_outBuffer out = {.dst = output, .size = size, .pos = 0};
    ZSTD_inBuffer in = {.src = input.data(), .size = input.size(), .pos = 0};
    // Called even without input: output may still wait inside.
    do {
      const std::size_t before = in.pos + out.pos;
      const std::size_t wanted = ::ZSTD_decompressStream(stream_.get(), &out, &in);
      if (::ZSTD_isError(wanted) != 0) return Broken("zstd", ::ZSTD_getErrorName(wanted));
      if (in.pos + out.pos == before) break;
      between_frames_ = wanted == 0;
    } while (in.pos < in.size && out.pos < out.size);
    input.remove_prefix(in.pos);
    return out.pos;
  }

  Result<void> Finish() override {
    if (between_frames_) return {};
    return Broken("zstd", "it stops before its end");
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* stream) const { (void)::ZSTD_freeDCtx(stream); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> stream_{::ZSTD_createDCtx()};
  bool between_frames_ = false;
};

}  // namespace

Compression DetectCompression(std::string_view first_bytes) {
  if (first_bytes.substr(0, 2) == "\x1f\x8b") return Compression::kGzip;
  if (first_bytes.substr(0, 4) == "\x28\xb5\x2f\xfd") return Compression::kZstd;
  // A skippable frame (0x184D2A50 to 0x184D2A5F) may come first, as pzstd and stargz write it.
  if (first_bytes.size() >= 4 && (static_cast<unsigned char>(first_bytes[0]) & 0xF0U) == 0x50 &&
      first_bytes.substr(1, 3) == "\x2a\x4d\x18") {
    return Compression::kZstd;
  }
  return Compression::kNone;
}

std::string_view CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kGzip:
      return "gzip";
    case Compression::kZstd:
      return "zstd";
  }
  return "none";
}

Result<std::unique_ptr<Inflater>> Inflater::Make(Compression compression, bool check) {
  bool ready = true;
  std::unique_ptr<Inflater> inflater;
  if (compression == Compression::kGzip) {
    auto gzip = std::make_unique<GzipInflater>(check);
    ready = gzip->IsReady();
    inflater = std::move(gzip);
  } else if (compression == Compression::kZstd) {
    auto zstd = std::make_unique<ZstdInflater>();
    ready = zstd->IsReady();
    inflater = std::move(zstd);
  } else {
    inflater = std::make_unique<Copier>();
  }
  if (!ready) {
    return Error{.kind = ErrorKind::kCapacity, .what = "no memory for a decompressor"};
  }
  return inflater;
}

}  // namespace plimsoll::image
