// The checks as a text for people and as one JSON document.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"

namespace plimsoll::doctor {

// One aligned line a check, its cures below it, and a last line that says whether a run works. With
// `colour`, the answers are coloured by ANSI sequences.
std::string ReportText(const std::vector<Check>& checks, bool colour);

// {"works","checks":[{"name","ok","found","cures"}]}, indented, with a newline. "ok" is "yes",
// "weaker" or "no".
std::string ReportJson(const std::vector<Check>& checks);

}  // namespace plimsoll::doctor
