// Any bytes: a difference is read or refused. On the default it allows no call that the default
// refuses, but those that its "allow" entries name; and the text of the result says the same.

#include <linux/seccomp.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "policy/calls.h"
#include "policy/describe.h"
#include "policy/difference.h"
#include "policy/interpret.h"
#include "policy/source.h"

namespace {

using plimsoll::policy::ArgTest;
using plimsoll::policy::Call;
using plimsoll::policy::Decide;
using plimsoll::policy::Difference;
using plimsoll::policy::Profile;
using plimsoll::policy::ProfileEntry;
using plimsoll::policy::Rule;
using plimsoll::policy::Source;
using plimsoll::policy::Verdicts;

struct Default {
  Profile profile;
  Verdicts verdicts;
};

const Default& TheDefault() {
  static const Default known = [] {
    const Source source = *plimsoll::policy::ReadSource("default", {}, {});
    return Default{source.profile, *VerdictsOf(source)};
  }();
  return known;
}

bool LetsPass(std::uint32_t action) {
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

// What an "allow" entry names is for the difference to say.
std::set<std::uint32_t> NamedCalls(const Difference& difference) {
  std::set<std::uint32_t> named;
  for (const ProfileEntry& entry : difference.allowed) {
    for (const std::string& name : entry.names) {
      if (const auto number = plimsoll::policy::NumberOfCall(name)) named.insert(*number);
    }
  }
  return named;
}

// With arguments for which some rule of the result holds, as far as one can be found test by test.
void CheckCall(std::uint32_t number, const Rule& rule, const Verdicts& after) {
  for (const std::uint64_t others : {0UL, 1UL, ~0UL}) {
    std::array<std::uint64_t, 6> arguments;
    arguments.fill(others);
    for (const ArgTest& test : rule.tests)
      arguments[test.index] = test.negated ? ~test.value : test.value | (others & ~test.mask);
    const seccomp_data call = Call(number, arguments);
    if (LetsPass(Decide(after, call)) && !LetsPass(Decide(TheDefault().verdicts, call)))
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto difference = plimsoll::policy::ParseDifference(text, "fuzz");
  if (!difference) return 0;
  const auto derived = Apply(*difference, TheDefault().profile);
  if (!derived) return 0;
  const auto again = plimsoll::policy::ParseProfile(CanonicalText(*derived), "again");
  if (!again || !(*again == *derived)) std::abort();
  const auto after = plimsoll::policy::VerdictsOf({.name = "fuzz", .profile = *derived});
  if (!after) std::abort();
  const std::set<std::uint32_t> named = NamedCalls(*difference);
  for (std::uint32_t number = 0; number < 520; ++number) {
    if (named.contains(number)) continue;
    CheckCall(number, {.tests = {}, .action = SECCOMP_RET_ALLOW}, *after);
    for (const Rule& rule : after->At(number).rules)
      CheckCall(number, rule, *after);
  }
  return 0;
}
