#include "policy/search_tree.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

namespace plimsoll::policy {

namespace {

// In steps of the kernel's walk (5.5 ns each on the machine it was measured on): what one more
// instruction adds to the load (0.7 us).
constexpr std::uint64_t kInstructionCost = 128;

// The kernel walks the numbers that it knows; 470 of them on x86-64 in Linux 6.18.
constexpr std::uint32_t kWalkedNumbers = 512;

class SearchTree {
 public:
  SearchTree(const std::vector<SearchRange>& ranges, Assembler& assembler)
      : ranges_(ranges), assembler_(assembler), nodes_(ranges.size() * ranges.size()) {
    for (std::size_t size = 1; size <= ranges.size(); ++size) {
      for (std::size_t begin = 0; begin + size <= ranges.size(); ++begin) {
        NodeOf(begin, begin + size) = Best(begin, begin + size);
      }
    }
  }

  // The comparisons for the ranges from `begin` up to `end`.
  void Emit(std::size_t begin, std::size_t end) {
    const Node& node = NodeOf(begin, end);
    if (node.split == kNoSplit) return EmitPoints(begin, end, node.rest);
    const Assembler::Label right = Target(node.split, end);
    const Assembler::Label left = Target(begin, node.split);
    assembler_.If(Jump::kGreaterOrEqual, ranges_[node.split].first, right, left);
    EmitAt(left, begin, node.split);
    EmitAt(right, node.split, end);
  }

 private:
  static constexpr std::size_t kNoSplit = 0;

  struct Node {
    std::uint64_t cost = 0;
    std::size_t split = kNoSplit;  // the first range of the right half; kNoSplit: single numbers
    Assembler::Label rest = 0;     // with kNoSplit: where all but the single numbers go
  };

  Node& NodeOf(std::size_t begin, std::size_t end) {
    return nodes_[begin * ranges_.size() + end - 1];
  }

  std::uint32_t Walked(std::size_t range) const {
    return range < ranges_.size() ? std::min(ranges_[range].first, kWalkedNumbers) : kWalkedNumbers;
  }
  bool IsPoint(std::size_t range) const {
    return range + 1 < ranges_.size() && ranges_[range + 1].first == ranges_[range].first + 1;
  }

  Node Best(std::size_t begin, std::size_t end) {
    if (end - begin == 1) return {.rest = ranges_[begin].target};
    Node best = Points(begin, end).value_or(Node{.cost = std::numeric_limits<uint64_t>::max()});
    const std::uint64_t own = kInstructionCost + Walked(end) - Walked(begin);
    for (std::size_t split = begin + 1; split < end; ++split) {
      const std::uint64_t cost = own + NodeOf(begin, split).cost + NodeOf(split, end).cost;
      if (cost < best.cost) best = {.cost = cost, .split = split};
    }
    return best;
  }

  // One comparison for each single number, when all ranges but those have the same target.
  std::optional<Node> Points(std::size_t begin, std::size_t end) const {
    std::optional<Assembler::Label> rest;
    for (std::size_t i = begin; i < end; ++i) {
      if (IsPoint(i)) continue;
      if (rest && *rest != ranges_[i].target) return std::nullopt;
      rest = ranges_[i].target;
    }
    Node node{.rest = rest.value_or(ranges_[begin].target)};
    std::uint64_t comparisons = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (ranges_[i].target == node.rest) continue;
      node.cost += ++comparisons;
    }
    node.cost += comparisons * (kInstructionCost + Walked(end) - Walked(begin) - comparisons);
    return node;
  }

  void EmitPoints(std::size_t begin, std::size_t end, Assembler::Label rest) {
    std::vector<SearchRange> points;
    std::copy_if(ranges_.begin() + static_cast<std::ptrdiff_t>(begin),
                 ranges_.begin() + static_cast<std::ptrdiff_t>(end), std::back_inserter(points),
                 [&](const SearchRange& range) { return range.target != rest; });
    if (points.empty()) return assembler_.GoTo(rest);
    for (const SearchRange& point : points) {
      const Assembler::Label next = &point == &points.back() ? rest : assembler_.NewLabel();
      assembler_.If(Jump::kEqual, point.first, point.target, next);
      if (next != rest) assembler_.Place(next);
    }
  }

  Assembler::Label Target(std::size_t begin, std::size_t end) {
    return end - begin == 1 ? ranges_[begin].target : assembler_.NewLabel();
  }
  void EmitAt(Assembler::Label label, std::size_t begin, std::size_t end) {
    if (end - begin == 1) return;
    assembler_.Place(label);
    Emit(begin, end);
  }

  const std::vector<SearchRange>& ranges_;
  Assembler& assembler_;
  std::vector<Node> nodes_;  // [begin][end - 1]
};

}  // namespace

void EmitSearch(const std::vector<SearchRange>& ranges, Assembler& assembler) {
  SearchTree(ranges, assembler).Emit(0, ranges.size());
}

}  // namespace plimsoll::policy
