// Profiles and rules as text: for people, for files, and to be compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/profile.h"

namespace plimsoll::policy {

// The canonical text of a profile: JSON, members sorted, two blanks a level, one newline at the
// end. policy/default.json is written so; parsing the text gives the profile again.
std::string CanonicalText(const Profile& profile);

// "arg0 == 2, arg1 & 0xfff7f7ff == 1"; empty without conditions. Hexadecimal from 256 on, and for
// masks.
std::string DescribeTests(const std::vector<ArgTest>& tests);

// "allow", "errno EPERM", "kill process" and so on.
std::string DescribeAction(std::uint32_t action);

// "SCMP_ACT_ALLOW" and so on, as profiles write the action without its errno.
std::string_view ActionName(std::uint32_t action);

// The errno of an action that gives one to the caller.
std::optional<int> ErrnoOf(std::uint32_t action);

// A rule as it is counted: one call, one action, its conditions.
struct CallRule {
  std::string call;
  std::uint32_t action;
  std::string tests;    // by DescribeTests
  std::string comment;  // not compared
};

// The rules of a profile, in its order.
std::vector<CallRule> RulesOf(const Profile& profile);

// What turns one profile into another. A rule that is in both is unchanged wherever it stands.
struct RuleChanges {
  std::vector<CallRule> added;    // sorted by call and conditions
  std::vector<CallRule> removed;  // the same
  std::size_t unchanged = 0;
  bool default_differs = false;

  bool AreNone() const { return added.empty() && removed.empty() && !default_differs; }
};

RuleChanges Compare(const Profile& before, const Profile& after);

}  // namespace plimsoll::policy
