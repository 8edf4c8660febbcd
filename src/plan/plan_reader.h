// Reads a plan's bytes back: for the launch, which carries the first steps out itself, and for
// people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "init/wire.h"
#include "json/writer.h"

namespace plimsoll::plan {

// One step with its texts resolved. The views point into the plan's bytes.
struct StepView {
  init::Phase phase;
  init::StepKind kind;
  std::string_view text[3];
  std::string_view blob;
  std::uint64_t number[4];
};

// The steps of a plan made by PlanWriter; `bytes` must outlive them.
std::vector<StepView> ReadSteps(const std::string& bytes);

// "kebab-case" name of a step's kind, such as "mount-filesystem"; stable, for JSON and tests.
std::string_view KindName(init::StepKind kind);

// How the variables of the guest's environment are shown: a value may be a secret.
enum class Environment { kShown, kHashed };

// What the step does, in one line without its number: "bind host '/dev/null' on '/dev/null' (ro
// nosuid noexec)". Says all that the step's bytes say, but for long blobs, which appear as size and
// SHA-256.
std::string Describe(const StepView& step, Environment environment = Environment::kShown);

// The whole plan for people: phases, numbered steps. Ends in a newline.
std::string DumpText(const std::string& bytes, Environment environment = Environment::kShown);

// {"digest","bytes","steps":[{"index","phase","kind","description"}]}, indented, with a newline.
std::string DumpJson(const std::string& bytes, std::string_view digest);

// Writes what the steps of a plan make of the sandbox as members of the object that is open:
// "namespaces", "id_maps", "capabilities" (of the guest: none), "no_new_privileges", "landlock" and
// "mounts" (as the guest sees them; sources on the host are not named).
void WriteConfinement(const std::string& bytes, json::Writer& writer);

}  // namespace plimsoll::plan
