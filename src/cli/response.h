// The JSON answer to a run, and that of any command that fails.
#pragma once

#include <string>

#include "base/error.h"
#include "image/rootfs.h"
#include "plan/sandbox_plan.h"
#include "policy/policy.h"
#include "request/run_request.h"
#include "result/run_result.h"

namespace plimsoll::cli {

// What a response is made of; a stage that was not reached is null.
struct ResponseParts {
  const request::RunRequest* request = nullptr;
  const image::Rootfs* rootfs = nullptr;
  const policy::Policy* policy = nullptr;
  const plan::SandboxPlan* plan = nullptr;
};

// The response with kind "project", one line with a newline. Streams that are no UTF-8 are base64;
// each has its full length and SHA-256.
std::string RunResponse(const ResponseParts& parts, const result::RunResult& result);

// What a command that runs nothing answers in place of its own document: {"refusal":{...}}, the
// same member as in a response to a run; one line with a newline.
std::string RefusalResponse(const Error& error);

}  // namespace plimsoll::cli
