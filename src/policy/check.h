// Whether a profile lets something through that no guest may have.
#pragma once

#include <string>
#include <vector>

#include "policy/source.h"

namespace plimsoll::policy {

enum class Severity {
  kNote,   // worth knowing; a run is not weaker for it
  kWrong,  // the profile must not be used
};

struct Finding {
  Severity severity;
  std::string text;
};

// Looks at the profile by itself, without the guard. Strictly, as for one of ours: anything that
// the guard would have to refuse is wrong, and so are rules that mean nothing. For a foreign one,
// made for guests with other walls around them, what the guard refuses in every run is a note;
// wrong is what it cannot refuse.
std::vector<Finding> Check(const Source& source, bool is_foreign);

}  // namespace plimsoll::policy
