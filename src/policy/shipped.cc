#include "policy/shipped.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "policy_shipped.h"  // made at build time by compile_main.cc

namespace plimsoll::policy {

Policy Shipped(const Needs& needs) {
  const std::string_view differences = needs.writable_volume ? "rw-volume" : "";
  const auto* row =
      std::find_if(std::begin(compiled::kPolicies), std::end(compiled::kPolicies),
                   [&](const ShippedPolicy& policy) { return policy.differences == differences; });
  Policy policy{.profile = "default",
                .differences = {},
                .digest = std::string(row->digest),
                .program_digest = std::string(row->program_digest),
                .guard_digest = std::string(compiled::kGuardDigest),
                .profile_program_digest = std::string(row->profile_program_digest),
                .program = row->program,
                .owned = nullptr};
  if (!differences.empty()) {
    for (const std::string_view name : Split(differences, ' '))
      policy.differences.emplace_back(name);
  }
  return policy;
}

std::string_view DefaultText() {
  return compiled::kDefaultText;
}

std::string_view DifferenceText(std::string_view name) {
  for (const NamedText& difference : compiled::kDifferences) {
    if (difference.name == name) return difference.text;
  }
  return {};
}

std::vector<std::string_view> DifferenceNames() {
  std::vector<std::string_view> names;
  for (const NamedText& difference : compiled::kDifferences)
    names.push_back(difference.name);
  return names;
}

std::string_view GuardDigest() {
  return compiled::kGuardDigest;
}

}  // namespace plimsoll::policy
