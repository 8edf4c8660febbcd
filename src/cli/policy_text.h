// What `plimsoll policy` answers, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "policy/check.h"
#include "policy/describe.h"
#include "policy/explain.h"
#include "policy/policy.h"
#include "policy/source.h"

namespace plimsoll::cli {

std::string DigestText(const policy::Policy& policy);
std::string DigestJson(const policy::Policy& policy);

std::string ChangesText(const policy::RuleChanges& changes);
std::string ChangesJson(const policy::RuleChanges& changes, const std::string& before_digest,
                        const std::string& after_digest);

std::string FindingsText(const std::string& name, const std::vector<policy::Finding>& findings);
std::string FindingsJson(const std::string& name, const std::vector<policy::Finding>& findings);

// Of one call with its arguments; `profile` is the profile's name.
std::string ExplanationText(const policy::Explanation& explanation, const std::string& profile);
std::string ExplanationJson(const policy::Explanation& explanation);

// Of one call whatever its arguments are.
std::string PossibilitiesText(const std::string& call,
                              const std::vector<policy::Possibility>& possibilities,
                              const std::string& profile);
std::string PossibilitiesJson(const std::string& call, std::uint32_t number,
                              const std::vector<policy::Possibility>& possibilities);

}  // namespace plimsoll::cli
