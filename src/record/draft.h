// A finished run as a draft of its line: what every stage has made, put together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "image/rootfs.h"
#include "json/writer.h"
#include "plan/sandbox_plan.h"
#include "policy/policy.h"
#include "record/line.h"
#include "request/run_request.h"

namespace plimsoll::record {

// Who ran it.
struct Runner {
  std::string version;
  std::string sha256;          // of the program's own file
  std::string kernel_release;  // of the host
};

// Null where the run came to its end before there was one.
struct RunFacts {
  const request::RunRequest* request = nullptr;
  const image::Rootfs* rootfs = nullptr;
  const policy::Policy* policy = nullptr;
  const plan::SandboxPlan* plan = nullptr;
  Runner runner = {};
  bool keep_environment = false;  // the values of variables, and not only their SHA-256
};

// What can be said of a run before it ends, and so while it runs.
struct BegunDraft {
  Draft draft;               // without response, result and times
  json::Writer confinement;  // the object is still open
};

BegunDraft BeginDraft(const RunFacts& facts);

// The rest. `response` is as it is stored: JSON on one line, without a "record". Errors: kProtocol
// when it is none.
Result<Draft> FinishDraft(BegunDraft begun, std::string_view response,
                          std::uint64_t started_unix_ms, std::uint64_t ended_unix_ms);

}  // namespace plimsoll::record
