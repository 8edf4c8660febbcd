#include "plan/plan_writer.h"

#include <cstring>

namespace plimsoll::plan {
namespace {

// The texts and blobs of a plan: offset 0 is the empty text.
class Pool {
 public:
  std::uint32_t Text(const std::string& text) {
    if (text.empty()) return 0;
    const auto [place, is_new] = offsets_.try_emplace(text, Size());
    if (is_new) bytes_.append(text.c_str(), text.size() + 1);
    return place->second;
  }

  // Blobs are aligned for the structures in them.
  std::uint32_t Blob(const std::string& blob) {
    if (blob.empty()) return 0;
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    const std::uint32_t offset = Size();
    bytes_ += blob;
    bytes_ += '\0';
    return offset;
  }

  const std::string& Bytes() const { return bytes_; }

 private:
  std::uint32_t Size() const { return static_cast<std::uint32_t>(bytes_.size()); }

  std::string bytes_ = std::string(1, '\0');
  std::map<std::string, std::uint32_t> offsets_;
};

void Append(std::string& out, const void* data, std::size_t size) {
  out.append(static_cast<const char*>(data), size);
}

}  // namespace

std::string PlanWriter::Finish() const {
  Pool pool;
  std::string table;
  table.reserve(steps_.size() * sizeof(init::Step));
  for (const StepDraft& draft : steps_) {
    init::Step step = {
        .phase = draft.phase,
        .kind = draft.kind,
        .text = {pool.Text(draft.text[0]), pool.Text(draft.text[1]), pool.Text(draft.text[2])},
        .blob = pool.Blob(draft.blob),
        .blob_size = static_cast<std::uint32_t>(draft.blob.size()),
        .reserved = 0,
        .number = {draft.number[0], draft.number[1], draft.number[2], draft.number[3]}};
    Append(table, &step, sizeof step);
  }
  const std::size_t pool_offset = sizeof(init::Header) + table.size();
  const init::Header header = {
      .magic = init::kMagic,
      .version = init::kVersion,
      .total_size = static_cast<std::uint32_t>(pool_offset + pool.Bytes().size()),
      .step_count = static_cast<std::uint32_t>(steps_.size()),
      .steps_offset = sizeof(init::Header),
      .pool_offset = static_cast<std::uint32_t>(pool_offset),
      .pool_size = static_cast<std::uint32_t>(pool.Bytes().size())};
  std::string bytes;
  bytes.reserve(header.total_size);
  Append(bytes, &header, sizeof header);
  return bytes + table + pool.Bytes();
}

}  // namespace plimsoll::plan
