// Reads a plan's bytes back: for the launch, which carries the first steps out itself, and for
// people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "init/wire.h"

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

// What the step does, in one line without its number: "bind host '/dev/null' on '/dev/null' (ro
// nosuid noexec)". Says all that the step's bytes say, but for long blobs, which appear as size and
// SHA-256.
std::string Describe(const StepView& step);

// The whole plan for people: phases, numbered steps. Ends in a newline.
std::string DumpText(const std::string& bytes);

// {"digest","bytes","steps":[{"index","phase","kind","description"}]}, indented, with a newline.
std::string DumpJson(const std::string& bytes, std::string_view digest);

}  // namespace plimsoll::plan
