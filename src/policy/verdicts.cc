#include "policy/verdicts.h"

#include <iterator>
#include <set>

namespace plimsoll::policy {

const Decision& Verdicts::At(std::uint32_t number) const {
  return std::prev(ranges_.upper_bound(number))->second;
}

void Verdicts::Set(std::uint32_t first, std::uint32_t last, const Decision& decision) {
  const bool has_rest = last != UINT32_MAX;
  if (has_rest) ranges_.insert_or_assign(last + 1, Decision(At(last + 1)));
  ranges_.erase(ranges_.lower_bound(first), has_rest ? ranges_.find(last + 1) : ranges_.end());
  ranges_.emplace(first, decision);
  if (has_rest) Join(last + 1);
  Join(first);
}

// Drops the border at `first` when both sides of it are the same.
void Verdicts::Join(std::uint32_t first) {
  const auto right = ranges_.find(first);
  if (right != ranges_.begin() && std::prev(right)->second == right->second) ranges_.erase(right);
}

namespace {

Decision Stack(const Decision& guard, const Decision& profile) {
  if (guard.otherwise != SECCOMP_RET_ALLOW) return guard;
  Decision both = guard;
  both.rules.insert(both.rules.end(), profile.rules.begin(), profile.rules.end());
  both.otherwise = profile.otherwise;
  return both;
}

}  // namespace

Verdicts Stack(const Verdicts& guard, const Verdicts& profile) {
  std::set<std::uint32_t> borders;
  for (const auto& [first, decision] : guard.Ranges())
    borders.insert(first);
  for (const auto& [first, decision] : profile.Ranges())
    borders.insert(first);
  Verdicts both(Stack(guard.At(0), profile.At(0)));
  for (const std::uint32_t first : borders) {
    both.Set(first, UINT32_MAX, Stack(guard.At(first), profile.At(first)));
  }
  return both;
}

}  // namespace plimsoll::policy
