// The whole examination: looks, tries, and really runs a command by the path that exec takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "doctor/findings.h"

namespace plimsoll::doctor {

struct Examination {
  Findings findings;
  // Run by root, the examination goes on in a worker that has given its ids up, as a run does. In
  // the process that stays root this is the worker's exit status, and the findings are empty.
  std::optional<int> worker_status;
};

// Examines this host for runs with the image store at `store` (absolute); `guarded` are the paths
// that a run guards from volumes. What it makes, it removes: a store that is not there is made in a
// temporary folder where the store would be.
//
// The calling thread must be the only one of the process; afterwards its signals are blocked and it
// is undumpable, see run::Execute. Errors: kHost when the worker cannot be made.
Result<Examination> Examine(const std::string& store, const std::vector<std::string>& guarded);

}  // namespace plimsoll::doctor
