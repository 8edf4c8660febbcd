// Any bytes as a layer, plain or compressed: it is unpacked or refused within its limits, merged or
// refused, and a folder beside it stays as it was.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "image/layer.h"
#include "image/merge.h"
#include "support/temp_dir.h"
#include "sys/file.h"

namespace {

using plimsoll::image::Limits;
using plimsoll::testing_support::TempDir;

constexpr Limits kLimits = {.layer_bytes = 1U << 20U,
                            .layer_entries = 200,
                            .layer_name_bytes = 1U << 16U,
                            .path_depth = 16};

void CheckOutside(const TempDir& dir) {
  struct stat status = {};
  if (::stat((dir / "outside/secret").c_str(), &status) != 0 || status.st_nlink != 1 ||
      status.st_size != 6 || (status.st_mode & 07777U) != 0600) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const TempDir dir;
  dir.MakeDirectory("outside");
  dir.WriteFile("outside/secret", "secret", 0600);
  const auto layer = plimsoll::sys::Open(dir.MakeDirectory("layer"), O_RDONLY | O_DIRECTORY);
  const auto work = plimsoll::sys::Open(dir.MakeDirectory("work"), O_RDONLY | O_DIRECTORY);
  if (!layer || !work) std::abort();
  const plimsoll::image::BlobSource blob = {
      .fd = -1, .bytes = {reinterpret_cast<const char*>(data), size}, .name = "fuzz"};
  auto unpacked = plimsoll::image::UnpackLayer(blob, {}, kLimits, layer->Get());
  if (unpacked) {
    auto root = plimsoll::sys::OpenAt(layer->Get(), "rootfs", O_RDONLY | O_DIRECTORY);
    if (!root) std::abort();
    std::vector<plimsoll::image::MergeLayer> layers(1);
    layers[0].root = *std::move(root);
    layers[0].facts = unpacked->facts;
    (void)plimsoll::image::MergeLayers(layers, work->Get());
  }
  CheckOutside(dir);
  return 0;
}
