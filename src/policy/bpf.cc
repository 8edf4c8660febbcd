#include "policy/bpf.h"

#include <limits>
#include <string>
#include <utility>

namespace plimsoll::policy {

namespace {

constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
constexpr std::uint16_t kAnd = BPF_ALU | BPF_AND | BPF_K;
constexpr std::uint16_t kGoTo = BPF_JMP | BPF_JA;
constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
constexpr std::size_t kReach = std::numeric_limits<std::uint8_t>::max();

bool IsConditional(std::uint16_t code) {
  return BPF_CLASS(code) == BPF_JMP && code != kGoTo;
}

}  // namespace

std::string_view Bytes(const Program& program) {
  return {reinterpret_cast<const char*>(program.data()), program.size() * sizeof(sock_filter)};
}

// Where each item stands, and which conditional jumps need the long form of three instructions.
struct Assembler::Layout {
  std::vector<bool> is_long;
  std::vector<std::size_t> at;  // one more than items: the end

  explicit Layout(std::size_t items) : is_long(items, false), at(items + 1, 0) {}

  void Measure() {
    for (std::size_t i = 0; i < is_long.size(); ++i)
      at[i + 1] = at[i] + (is_long[i] ? 3 : 1);
  }
};

Assembler::Label Assembler::NewLabel() {
  places_.push_back(0);
  return places_.size() - 1;
}

void Assembler::Place(Label label) {
  places_[label] = items_.size();
}

void Assembler::Load(std::size_t offset) {
  items_.push_back({.code = kLoad, .operand = static_cast<std::uint32_t>(offset)});
}

void Assembler::And(std::uint32_t mask) {
  items_.push_back({.code = kAnd, .operand = mask});
}

void Assembler::If(Jump condition, std::uint32_t operand, Label then, Label otherwise) {
  items_.push_back({.code = static_cast<std::uint16_t>(condition),
                    .operand = operand,
                    .then = then,
                    .otherwise = otherwise});
}

void Assembler::GoTo(Label label) {
  items_.push_back({.code = kGoTo, .operand = 0, .then = label});
}

void Assembler::Return(std::uint32_t action) {
  items_.push_back({.code = kReturn, .operand = action});
}

// Makes the jumps long that do not reach; true when there were any, so that others may have moved.
bool Assembler::Grow(Layout& layout) const {
  layout.Measure();
  bool grew = false;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (!IsConditional(items_[i].code) || layout.is_long[i]) continue;
    const std::size_t next = layout.at[i] + 1;
    if (layout.at[places_[items_[i].then]] - next > kReach ||
        layout.at[places_[items_[i].otherwise]] - next > kReach) {
      layout.is_long[i] = true;
      grew = true;
    }
  }
  return grew;
}

Result<Program> Assembler::Finish() const {
  Layout layout(items_.size());
  while (Grow(layout)) {
  }
  if (layout.at.back() > BPF_MAXINSNS) {
    return Error{.kind = ErrorKind::kCapacity,
                 .what = "the filter needs " + std::to_string(layout.at.back()) +
                         " instructions, the kernel takes " + std::to_string(BPF_MAXINSNS)};
  }
  Program program;
  program.reserve(layout.at.back());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    // From behind the instruction that is appended next to the label's place.
    const auto distance = [&](Label label) {
      return static_cast<std::uint32_t>(layout.at[places_[label]] - program.size() - 1);
    };
    if (item.code == kGoTo) {
      program.push_back({kGoTo, 0, 0, distance(item.then)});
    } else if (!IsConditional(item.code)) {
      program.push_back({item.code, 0, 0, item.operand});
    } else if (!layout.is_long[i]) {
      program.push_back({item.code, static_cast<std::uint8_t>(distance(item.then)),
                         static_cast<std::uint8_t>(distance(item.otherwise)), item.operand});
    } else {
      program.push_back({item.code, 0, 1, item.operand});
      program.push_back({kGoTo, 0, 0, distance(item.then)});
      program.push_back({kGoTo, 0, 0, distance(item.otherwise)});
    }
  }
  return program;
}

}  // namespace plimsoll::policy
