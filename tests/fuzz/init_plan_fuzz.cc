// Any bytes as a plan: refused, or everything that init looks at lies inside them.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "init/plan_view.h"

namespace {

using plimsoll::init::Blob;
using plimsoll::init::Header;
using plimsoll::init::PlanView;
using plimsoll::init::Step;

// Looks at each byte that a step refers to, for the sanitizers.
void Visit(const std::vector<unsigned char>& bytes) {
  PlanView view;
  if (!view.Parse(bytes.data(), bytes.size())) return;
  for (std::uint32_t i = 0; i < view.StepCount(); ++i) {
    const Step& step = view.At(i);
    for (int text = 0; text < 3; ++text) {
      const char* begin = view.Text(step, text);
      const char* end = begin + std::strlen(begin);
      if (reinterpret_cast<const unsigned char*>(end) >= bytes.data() + bytes.size()) std::abort();
    }
    const Blob blob = view.BlobOf(step);
    for (std::uint32_t at = 0; at < blob.size; ++at) {
      if (&blob.data[at] >= bytes.data() + bytes.size()) std::abort();
    }
  }
}

// The same bytes with a header that fits them, so that what lies behind it is reached.
void Repair(std::vector<unsigned char>& bytes) {
  if (bytes.size() < sizeof(Header) + sizeof(Step) + 1) return;
  Header header = {};
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t most = (bytes.size() - sizeof(Header) - 1) / sizeof(Step);
  header.magic = plimsoll::init::kMagic;
  header.version = plimsoll::init::kVersion;
  header.total_size = static_cast<std::uint32_t>(bytes.size());
  header.step_count = static_cast<std::uint32_t>(1 + header.step_count % most);
  header.steps_offset = sizeof(Header);
  header.pool_offset =
      static_cast<std::uint32_t>(sizeof(Header) + header.step_count * sizeof(Step));
  header.pool_size = header.total_size - header.pool_offset;
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes[header.pool_offset] = 0;
  bytes.back() = 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<unsigned char> bytes(data, data + size);
  Visit(bytes);
  Repair(bytes);
  Visit(bytes);
  return 0;
}
