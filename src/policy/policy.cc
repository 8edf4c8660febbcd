#include "policy/policy.h"

#include "policy_default.h"  // made at build time by compile_main.cc

namespace plimsoll::policy {

Policy Default() {
  return {.program = compiled::kDefaultProgram,
          .digest = compiled::kDefaultDigest,
          .program_digest = compiled::kDefaultProgramDigest,
          .guard_digest = compiled::kGuardDigest,
          .profile_program_digest = compiled::kDefaultProfileProgramDigest};
}

}  // namespace plimsoll::policy
