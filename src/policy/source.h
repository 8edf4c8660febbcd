// A policy as it was asked for: a profile by name or file, and differences by name or file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/difference.h"
#include "policy/policy.h"
#include "policy/profile.h"

namespace plimsoll::policy {

struct Source {
  std::string name;  // "default", or the file's path
  bool is_ours = false;
  Profile profile = {};  // with the differences in it
  std::vector<std::string> differences = {};
  std::string digest = {};                      // as Policy::digest
  std::vector<std::string> unknown_calls = {};  // names that x86-64 has no call of, each once
};

// Reads the profile `name` ("default", else a file) and puts the differences (names of shipped
// ones, else files) on it in their order.
//
// Errors: kRequest for a file that cannot be read; those of ParseProfile and ParseDifference.
Result<Source> ReadSource(const std::string& name, const std::vector<std::string>& differences,
                          const Platform& platform);

// The verdicts of the source's profile alone. Names that x86-64 does not have are passed over, as
// container engines do. Errors: kProtocol, see ToVerdicts.
Result<Verdicts> VerdictsOf(const Source& source, Reading reading = Reading::kLenient);

// Behind the guard, compiled. A profile of a container engine takes about 2 ms, so a run uses
// CachedPolicy.
Result<Policy> Compile(const Source& source);

// The same, with the program from the folder `cache` when it is there and undamaged; otherwise it
// is compiled and put there, beside and by rename. What cannot be cached is no error.
Result<Policy> CachedPolicy(const Source& source, const std::string& cache);

// The digest of a program's bytes, "sha256:<hex>".
std::string ProgramDigest(std::span<const sock_filter> program);

}  // namespace plimsoll::policy
