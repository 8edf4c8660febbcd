// Plans by themselves: no sandbox is made, and the host's facts are invented.

#include "plan/build.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "plan/plan_reader.h"
#include "support/temp_dir.h"

namespace plimsoll::plan {
namespace {

constexpr std::array<sock_filter, 1> kAllowAll = {{{BPF_RET | BPF_K, 0, 0, 0x7fff0000}}};

// A tree with the skeleton that the planner looks at, and a host of known facts.
class BuildPlan : public ::testing::Test {
 protected:
  BuildPlan() {
    tree_.MakeDirectory("etc");
    tree_.WriteFile("etc/passwd", "root:x:0:0::/root:/bin/sh\nada:x:7:8::/:/bin/sh\n");
    tree_.WriteFile("etc/group", "root:x:0:\ncrew:x:8:\n");
    EXPECT_EQ(::symlink("etc", (tree_ / "link").c_str()), 0);
    rootfs_.tree = sys::UniqueFd(::open(tree_.Path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    rootfs_.tree_path = "/store/trees/1/rootfs";
    host_ = {.uid = 1001,
             .gid = 1002,
             .kernel_release = "6.18.0",
             .kernel_major = 6,
             .kernel_minor = 18,
             .landlock_abi = 7,
             .last_capability = 40,
             .memory_bytes = std::uint64_t{8} << 30U,
             .descriptor_limit = 4096,
             .cgroup = {}};
    request_.steps = {{.shell = {}, .arguments = {"true"}}};
  }

  Result<SandboxPlan> Build() {
    policy::Policy policy;
    policy.program = kAllowAll;
    return plan::Build({.request = request_,
                        .rootfs = rootfs_,
                        .policy = policy,
                        .host = host_,
                        .store = tree_ / "store",
                        .guarded_paths = {}});
  }

  // The plan against tests/golden/NAME.plan; with PLIMSOLL_UPDATE_GOLDEN set, that file is written.
  void ExpectGolden(const std::string& name) {
    const auto plan = Build();
    ASSERT_TRUE(plan.has_value()) << plan.error().Message();
    const std::string path = std::string(PLIMSOLL_SOURCE_DIR) + "/tests/golden/" + name + ".plan";
    const std::string text = DumpText(plan->bytes);
    if (std::getenv("PLIMSOLL_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    EXPECT_EQ(text, testing_support::ReadWholeFile(path));
  }

  std::string ErrorOf() {
    const auto plan = Build();
    return plan.has_value() ? "no error" : plan.error().Message();
  }

  testing_support::TempDir tree_;
  image::Rootfs rootfs_;
  sys::HostFacts host_;
  request::RunRequest request_;
};

TEST_F(BuildPlan, IsTheGoldenOneForABareCommand) {
  ExpectGolden("bare");
}

TEST_F(BuildPlan, IsTheGoldenOneForAWritableRootAndAnUnknownUser) {
  request_.writable_root = true;
  request_.user = {.user = "4242", .group = ""};
  request_.limits.cpu_time = std::chrono::milliseconds(1500);
  request_.environment = {{"A", "1"}, {"HOME", "/tmp"}};
  ExpectGolden("writable_root");
}

TEST_F(BuildPlan, LeavesLandlockOutWhereOnlyItsFirstAbiIsThereAndSaysSo) {
  host_.landlock_abi = 1;
  const auto plan = Build();
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(DumpText(plan->bytes).find("Landlock"), std::string::npos);
  ASSERT_EQ(plan->warnings.size(), 1U);
  EXPECT_NE(plan->warnings[0].find("Landlock"), std::string::npos);
}

TEST_F(BuildPlan, IsTheSameBytesForTheSameRequest) {
  const auto one = Build();
  const auto two = Build();
  ASSERT_TRUE(one.has_value() && two.has_value());
  EXPECT_EQ(one->bytes, two->bytes);
  EXPECT_EQ(one->digest, two->digest);
}

TEST_F(BuildPlan, TakesNamesFromTheImagesAccounts) {
  request_.user = {.user = "ada", .group = "crew"};
  const auto plan = Build();
  ASSERT_TRUE(plan.has_value()) << plan.error().Message();
  EXPECT_NE(DumpText(plan->bytes).find("map uid '7 1001 1' and gid '8 1002 1'"), std::string::npos);
}

TEST_F(BuildPlan, EnforcesInACgroupWhereOneIsDelegated) {
  host_.cgroup = "/sys/fs/cgroup/user.slice";
  request_.limits.memory_bytes = 1U << 20U;
  request_.limits.cpus = 1.5;
  request_.limits.require = true;
  const auto plan = Build();
  ASSERT_TRUE(plan.has_value()) << plan.error().Message();
  EXPECT_EQ(plan->cgroup.memory_max, "1048576");
  EXPECT_EQ(plan->cgroup.pids_max, "513");
  EXPECT_EQ(plan->cgroup.cpu_max, "150000 100000");
  EXPECT_FALSE(plan->supervision.memory_bytes.has_value());
}

TEST_F(BuildPlan, RefusesAKernelThatIsTooOldAndNamesIt) {
  host_.kernel_major = 5;
  host_.kernel_minor = 10;
  host_.kernel_release = "5.10.0-28-amd64";
  EXPECT_EQ(ErrorOf(), "this kernel is 5.10.0-28-amd64, and plimsoll needs 5.15 or newer");
}

TEST_F(BuildPlan, RefusesAWritableRootWhereTmpfsHasNoUserXattrs) {
  host_.kernel_minor = 1;
  host_.kernel_release = "6.1.0";
  request_.writable_root = true;
  EXPECT_EQ(ErrorOf(),
            "--writable-root needs Linux 6.6 for user xattrs on tmpfs, and this kernel is 6.1.0");
}

TEST_F(BuildPlan, RefusesAUserWhomTheImageDoesNotKnow) {
  request_.user = {.user = "eve", .group = ""};
  EXPECT_EQ(ErrorOf(), "--user: the image has no user 'eve'");
}

TEST_F(BuildPlan, RefusesAVolumeThatLeadsThroughALinkOfTheImage) {
  request_.volumes = {{.source = tree_ / "etc", .destination = "/link"}};
  EXPECT_EQ(ErrorOf(), "--volume destination '/link' is a symbolic link of the image");
}

TEST_F(BuildPlan, RefusesAFloorAboveThisMachinesTier) {
  request_.floor = request::Tier::kVm;
  const auto plan = Build();
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().kind, ErrorKind::kIsolation);
}

}  // namespace
}  // namespace plimsoll::plan
