// Whole plans as text, compared with tests/golden/plan/. PLIMSOLL_UPDATE_GOLDEN=1 writes them anew.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "plan/plan_reader.h"
#include "unit/plan/plan_fixture.h"

namespace plimsoll::plan {
namespace {

using testing_support::ReadWholeFile;

class GoldenPlan : public PlanTest {
 protected:
  // What differs from machine to machine is replaced: inodes, and the test's own folder.
  std::string Show(const SandboxPlan& plan) const {
    std::string text = DumpText(plan.bytes);
    text = std::regex_replace(text, std::regex("inode [0-9]+"), "inode N");
    for (std::size_t at = 0; (at = text.find(dir_.Path(), at)) != std::string::npos;) {
      text.replace(at, dir_.Path().size(), "TEMP");
    }
    text += "limits\n";
    for (const Limit& limit : plan.limits) {
      text += "      " + limit.name + " " + limit.value + ": " + limit.mechanism + "\n";
    }
    text += "warnings\n";
    for (const std::string& warning : plan.warnings)
      text += "      " + warning + "\n";
    return text;
  }

  void ExpectGolden(const std::string& name) const {
    const auto plan = BuildPlan();
    ASSERT_TRUE(plan.has_value()) << plan.error().Message();
    const std::string path =
        std::string(PLIMSOLL_SOURCE_DIR) + "/tests/golden/plan/" + name + ".txt";
    if (std::getenv("PLIMSOLL_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << Show(*plan);
    EXPECT_EQ(Show(*plan), ReadWholeFile(path));
  }
};

TEST_F(GoldenPlan, OfAnOrdinaryRun) {
  ExpectGolden("ordinary");
}

TEST_F(GoldenPlan, OfVolumes) {
  dir_.MakeDirectory("repository/.git");
  dir_.WriteFile("repository/.envrc", "");
  dir_.WriteFile("file", "");
  AddVolume(dir_ / "repository", "/work/src", true);
  AddVolume(dir_.Path() + "/repository", "/opt/tool");
  AddVolume(dir_ / "file", "/etc/hosts");
  AddVolume(dir_ / "file", "/deep/in/here");
  AddVolume(dir_ / "file", "/deep/in/there");
  ExpectGolden("volumes");
}

TEST_F(GoldenPlan, OfAWritableRoot) {
  request_.writable_root = true;
  ExpectGolden("writable_root");
}

TEST_F(GoldenPlan, OfAUserWithoutAnAccount) {
  request_.user = {.user = "42", .group = "43"};
  ExpectGolden("unknown_user");
}

TEST_F(GoldenPlan, OfEveryLimit) {
  request_.limits = {.timeout = std::chrono::milliseconds(1500),
                     .kill_after = std::chrono::milliseconds(10),
                     .cpu_time = std::chrono::milliseconds(2500),
                     .memory_bytes = 1U << 28U,
                     .pids = 32,
                     .cpus = 1.5,
                     .tmpfs_bytes = 1U << 20U};
  ExpectGolden("limits");
}

TEST_F(GoldenPlan, OfADelegatedGroup) {
  host_.cgroup = "/sys/fs/cgroup/user.slice/run.scope";
  request_.limits.memory_bytes = 1U << 28U;
  request_.limits.cpus = 0.5;
  ExpectGolden("cgroup");
}

TEST_F(GoldenPlan, OfArgumentsAndVariablesThatNeedQuotes) {
  SetCommand({"sh", "-c", "echo \"it's\"", ""});
  request_.environment = {{"A", "two words"}, {"PATH", "/bin"}, {"A", "later"}};
  request_.workdir = "/tmp";
  ExpectGolden("quoting");
}

TEST_F(GoldenPlan, OfAnImageWithItsOwnDefaults) {
  SetCommand({});
  rootfs_.config.entrypoint = {"/entry"};
  rootfs_.config.cmd = {"run"};
  rootfs_.config.env = {{"HOME", "/home/app"}, {"PATH", "/app:/bin"}};
  rootfs_.config.user = "daemon:staff";
  rootfs_.config.working_dir = "/usr";
  ExpectGolden("image_defaults");
}

TEST_F(GoldenPlan, OfTwoSteps) {
  dir_.MakeDirectory("data");
  AddVolume(dir_ / "data", "/opt/tool");
  request_.steps = {{.shell = "echo 'one' | cat"}, {.shell = {}, .arguments = {"two", "words"}}};
  ExpectGolden("two_steps");
}

TEST_F(GoldenPlan, OfFilesAndArtifacts) {
  dir_.MakeDirectory("data");
  AddVolume(dir_ / "data", "/work/src/data");
  request_.steps = {{.shell = "one"}, {.shell = "two"}};
  request_.files = {{.path = "main.sh", .content = "echo hi\n", .mode = 0755},
                    {.path = "src/a.txt", .content = std::string("\0\xff", 2)},
                    {.path = "src/b/c.txt", .content = ""}};
  request_.artifacts = {{.path = "out.txt", .destination = {}},
                        {.path = "src/data/x", .destination = {}}};
  ExpectGolden("files_and_artifacts");
}

TEST_F(GoldenPlan, OfAnOldHost) {
  host_.landlock_abi = 0;
  host_.last_capability = 37;
  host_.descriptor_limit = 64;
  ExpectGolden("old_host");
}

TEST_F(GoldenPlan, IsTheSameBytesEachTime) {
  EXPECT_EQ(BuildPlan()->bytes, BuildPlan()->bytes);
  EXPECT_EQ(BuildPlan()->digest, BuildPlan()->digest);
}

}  // namespace
}  // namespace plimsoll::plan
