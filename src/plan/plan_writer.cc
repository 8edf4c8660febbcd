#include "plan/plan_writer.h"

namespace plimsoll::plan {
namespace {

void Append(std::string& out, const void* data, std::size_t size) {
  out.append(static_cast<const char*>(data), size);
}

}  // namespace

std::uint32_t PlanWriter::PutText(const std::string& text) {
  if (text.empty()) return 0;
  const auto [place, is_new] = texts_.try_emplace(text, static_cast<std::uint32_t>(pool_.size()));
  if (is_new) pool_.append(text.c_str(), text.size() + 1);
  return place->second;
}

// Blobs are aligned for the structures in them.
std::uint32_t PlanWriter::PutBlob(const std::string& blob) {
  if (blob.empty()) return 0;
  pool_.resize((pool_.size() + 7) / 8 * 8);
  const auto offset = static_cast<std::uint32_t>(pool_.size());
  pool_ += blob;
  pool_ += '\0';
  return offset;
}

void PlanWriter::Add(const StepDraft& step) {
  steps_.push_back({.phase = step.phase,
                    .kind = step.kind,
                    .text = {PutText(step.text[0]), PutText(step.text[1]), PutText(step.text[2])},
                    .blob = PutBlob(step.blob),
                    .blob_size = static_cast<std::uint32_t>(step.blob.size()),
                    .reserved = 0,
                    .number = {step.number[0], step.number[1], step.number[2], step.number[3]}});
}

std::string PlanWriter::Finish() const {
  const std::size_t table_size = steps_.size() * sizeof(init::Step);
  const std::size_t pool_offset = sizeof(init::Header) + table_size;
  const init::Header header = {.magic = init::kMagic,
                               .version = init::kVersion,
                               .total_size = static_cast<std::uint32_t>(pool_offset + pool_.size()),
                               .step_count = static_cast<std::uint32_t>(steps_.size()),
                               .steps_offset = sizeof(init::Header),
                               .pool_offset = static_cast<std::uint32_t>(pool_offset),
                               .pool_size = static_cast<std::uint32_t>(pool_.size())};
  std::string bytes;
  bytes.reserve(header.total_size);
  Append(bytes, &header, sizeof header);
  Append(bytes, steps_.data(), table_size);
  bytes += pool_;
  return bytes;
}

}  // namespace plimsoll::plan
