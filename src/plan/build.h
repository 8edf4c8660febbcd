// Decides everything: a checked request, a root, a policy and the host's facts become a plan.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "image/rootfs.h"
#include "plan/sandbox_plan.h"
#include "policy/policy.h"
#include "request/run_request.h"
#include "sys/host.h"

namespace plimsoll::plan {

struct Input {
  const request::RunRequest& request;
  const image::Rootfs& rootfs;
  const policy::Policy& policy;
  const sys::HostFacts& host;
  std::string store;  // absolute path of the image store
  // Further host directories and files that no volume may contain or lie in: configuration, keys.
  std::vector<std::string> guarded_paths;
  // The process that clones cannot reach the paths of root and volumes (the caller is root and
  // gives its ids up), so they go to init as detached mounts, made while building.
  bool pass_mounts = false;
};

// Reads the image's passwd and group and looks at volumes' sources; changes nothing.
//
// Errors: kRequest for a value that cannot be used (a volume without a source, an unknown user),
// kPermission for a volume that would open the store or a key, kIsolation for a floor above this
// machine's tier, kCapacity for a limit that must be enforced and cannot be, kUnsupported for what
// this kernel lacks.
Result<SandboxPlan> Build(const Input& input);

}  // namespace plimsoll::plan
