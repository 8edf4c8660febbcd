// The policies that come with the program (policy/), compiled while it was built.
#pragma once

#include <linux/filter.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace plimsoll::policy {

// Rows of the tables that the build makes.
struct ShippedPolicy {
  std::string_view differences;  // names with blanks between
  std::span<const sock_filter> program;
  std::string_view digest;
  std::string_view program_digest;
  std::string_view profile_program_digest;
};
struct NamedText {
  std::string_view name;
  std::string_view text;
};

// What in a request calls for a difference.
struct Needs {
  bool writable_volume = false;  // "rw-volume"
};

// The default with the differences that the needs call for, behind the guard. Costs a few copies.
Policy Shipped(const Needs& needs = {});

// The texts: of default.json, and of a difference by its name ("sdk"); empty for an unknown one.
std::string_view DefaultText();
std::string_view DifferenceText(std::string_view name);
std::vector<std::string_view> DifferenceNames();

std::string_view GuardDigest();

}  // namespace plimsoll::policy
