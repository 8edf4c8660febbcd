// A host, an image and a policy that are the same on every machine, for plans that can be compared.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <string>
#include <vector>

#include "plan/build.h"
#include "support/temp_dir.h"
#include "sys/file.h"

namespace plimsoll::plan {

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    for (const char* folder : {"tree/etc", "tree/usr", "tree/opt/tool", "tree/proc", "tree/dev"}) {
      dir_.MakeDirectory(folder);
    }
    dir_.WriteFile("tree/etc/passwd",
                   "root:x:0:0:root:/root:/bin/sh\nplimsoll:x:1000:1000:plimsoll:/work:/bin/sh\n"
                   "broken line\ndaemon:x:1:2::/:/bin/sh\n");
    dir_.WriteFile("tree/etc/group", "root:x:0:\nplimsoll:x:1000:\nstaff:x:50:plimsoll\n");
    dir_.WriteFile("tree/etc/hosts", "");
    rootfs_.tree = *sys::Open(dir_ / "tree", O_PATH | O_DIRECTORY);
    rootfs_.tree_path = "/store/trees/aa/rootfs";
    SetCommand({"true"});
    host_.uid = 1001;
    host_.gid = 1002;
    host_.kernel_major = 6;
    host_.kernel_minor = 12;
    host_.kernel_release = "6.12.0";
    host_.landlock_abi = 6;
    host_.last_capability = 40;
    host_.memory_bytes = std::uint64_t{8} << 30U;
    host_.descriptor_limit = 1U << 20U;
  }

  // The request is for this one command; an empty one is the image's own.
  void SetCommand(std::vector<std::string> arguments) {
    request_.steps = {{.shell = {}, .arguments = std::move(arguments)}};
  }

  Result<SandboxPlan> BuildPlan() const {
    policy::Policy policy = {};
    policy.program = program_;
    return Build({.request = request_,
                  .rootfs = rootfs_,
                  .policy = policy,
                  .host = host_,
                  .store = store_,
                  .guarded_paths = {dir_ / "config"}});
  }

  // The refusal of the request; fails the test when there is none.
  Error Refusal() const {
    auto plan = BuildPlan();
    if (!plan) return std::move(plan).error();
    ADD_FAILURE() << "the plan was made";
    return {.kind = ErrorKind::kUsage, .what = ""};
  }

  void AddVolume(std::string source, std::string destination, bool writable = false) {
    request_.volumes.push_back(
        {.source = std::move(source), .destination = std::move(destination), .writable = writable});
  }

  testing_support::TempDir dir_;
  std::string store_ = dir_ / "store";
  request::RunRequest request_;
  image::Rootfs rootfs_;
  sys::HostFacts host_;
  std::array<sock_filter, 1> program_ = {{{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
};

}  // namespace plimsoll::plan
