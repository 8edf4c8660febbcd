// The policy of a run whose user brought a profile.
#pragma once

#include <string>

#include "policy/policy.h"
#include "policy/profile.h"
#include "policy/shipped.h"

namespace plimsoll::policy {

// The profile in `path` behind the guard, with the differences that the needs call for, by way of
// the cache folder.
//
// Errors: kRequest for a file that cannot be read, and for a profile in which Check() finds
// something wrong that the guard does not see to; those of ParseProfile.
Result<Policy> ForFile(const std::string& path, const Needs& needs, const Platform& platform,
                       const std::string& cache);

}  // namespace plimsoll::policy
