// What is found out by looking: settings, surroundings, cgroup, store. Nothing here fails; what
// cannot be read counts as absent.
#pragma once

#include <string>

#include "doctor/findings.h"

namespace plimsoll::doctor {

// Everything that can be read about the process and its host, without trying.
void LookAround(Findings& findings);

// The store at `path`. When it is not there, `instead` stands for it: a folder on the file system
// where it would be.
StoreFindings LookAtStore(const std::string& path, const std::string& instead);

}  // namespace plimsoll::doctor
