// Requests that no plan is made of, each with its reason.

#include <sys/stat.h>
#include <unistd.h>

#include "unit/plan/plan_fixture.h"

namespace plimsoll::plan {
namespace {

class Refused : public PlanTest {
 protected:
  // The refusal of one more volume, which is taken away again.
  Error OfVolume(const std::string& source, const std::string& destination) {
    AddVolume(source, destination);
    Error error = Refusal();
    request_.volumes.pop_back();
    return error;
  }
};

TEST_F(Refused, IsAVolumeThatOpensWhatIsGuardedFromEitherSide) {
  dir_.MakeDirectory("store/inner");
  dir_.MakeDirectory("config");
  ASSERT_EQ(::symlink("store", (dir_ / "alias").c_str()), 0);
  for (const char* source : {"store", "store/inner", "alias", "alias/inner", "config"}) {
    const Error error = OfVolume(dir_ / source, "/src");
    EXPECT_EQ(error.kind, ErrorKind::kPermission) << source;
    EXPECT_NE(error.what.find("where plimsoll keeps its own files"), std::string::npos)
        << error.what;
  }
  EXPECT_EQ(OfVolume(dir_.Path(), "/src").kind, ErrorKind::kPermission);
  EXPECT_EQ(OfVolume("/", "/src").kind, ErrorKind::kPermission);
}

TEST_F(Refused, IsAVolumeAroundAStoreThatIsNotThereYet) {
  EXPECT_EQ(OfVolume(dir_.Path(), "/src").kind, ErrorKind::kPermission);
}

// The store is reached through a link, and the volume is a folder above the place where it leads.
TEST_F(Refused, IsAVolumeAroundThePlaceWhereTheStoreReallyIs) {
  dir_.MakeDirectory("disk/data/store");
  dir_.MakeDirectory("home");
  ASSERT_EQ(::symlink("../disk/data", (dir_ / "home/share").c_str()), 0);
  store_ = dir_ / "home/share/store";
  EXPECT_NE(OfVolume(dir_ / "disk", "/src").what.find("contains"), std::string::npos);
  EXPECT_NE(OfVolume(dir_ / "disk/data", "/src").what.find("contains"), std::string::npos);
  store_ = dir_ / "home/share/not/made/yet";
  EXPECT_NE(OfVolume(dir_ / "disk", "/src").what.find("contains"), std::string::npos);
}

TEST_F(Refused, IsNoVolumeBesideWhatIsGuarded) {
  for (const char* folder : {"store", "store2", "config", "configuration", "other"}) {
    dir_.MakeDirectory(folder);
  }
  for (const char* folder : {"store2", "configuration", "other"}) {
    request_.volumes.clear();
    AddVolume(dir_ / folder, "/src");
    const auto plan = BuildPlan();
    EXPECT_TRUE(plan.has_value()) << folder << ": " << plan.error().Message();
  }
}

TEST_F(Refused, IsAHardLinkToAFileThatIsGuarded) {
  dir_.WriteFile("config", "secret");
  ASSERT_EQ(::link((dir_ / "config").c_str(), (dir_ / "other").c_str()), 0);
  EXPECT_EQ(OfVolume(dir_ / "other", "/src").kind, ErrorKind::kPermission);
}

TEST_F(Refused, IsAVolumeThroughALinkOfTheImage) {
  ASSERT_EQ(::symlink("/usr", (dir_ / "tree/link").c_str()), 0);
  dir_.MakeDirectory("source");
  EXPECT_EQ(OfVolume(dir_ / "source", "/link").what,
            "--volume destination '/link' is a symbolic link of the image");
  EXPECT_EQ(OfVolume(dir_ / "source", "/link/x").what,
            "--volume destination '/link/x' leads through a symbolic link of the image");
}

TEST_F(Refused, AreMoreVolumesThanTheLimit) {
  for (int i = 0; i < 65; ++i)
    AddVolume("/usr", "/opt/" + std::to_string(i));
  EXPECT_EQ(Refusal().what, "more than 64 volumes");
}

TEST_F(Refused, IsAFloorAboveThisMachine) {
  request_.floor = request::Tier::kKernel;
  EXPECT_EQ(Refusal().kind, ErrorKind::kIsolation);
  request_.floor = request::Tier::kContainer;
  EXPECT_TRUE(BuildPlan().has_value());
}

TEST_F(Refused, IsALimitThatMustBeEnforcedAndCannotBe) {
  request_.limits.require = true;
  EXPECT_TRUE(BuildPlan().has_value()) << "a default was not asked for";
  request_.limits.memory_bytes = 1U << 28U;
  const Error error = Refusal();
  EXPECT_EQ(error.kind, ErrorKind::kCapacity);
  EXPECT_NE(error.what.find("--memory is watched"), std::string::npos) << error.what;
  EXPECT_NE(error.hint.find("systemd-run --user --scope"), std::string::npos) << error.hint;
  host_.cgroup = "/sys/fs/cgroup/x";
  EXPECT_TRUE(BuildPlan().has_value());
}

// A delegated group does not help there, so nobody is sent to make one.
TEST_F(Refused, IsALimitOnProcessorTimeThatMustBeEnforced) {
  request_.limits.require = true;
  request_.limits.cpu_time = std::chrono::milliseconds(1000);
  host_.cgroup = "/sys/fs/cgroup/x";
  const Error error = Refusal();
  EXPECT_EQ(error.kind, ErrorKind::kCapacity);
  EXPECT_EQ(error.hint.find("systemd-run"), std::string::npos) << error.hint;
  EXPECT_NE(error.hint.find("--timeout"), std::string::npos) << error.hint;
}

TEST_F(Refused, IsAWritableRootOnAKernelThatCannotMakeIt) {
  request_.writable_root = true;
  EXPECT_TRUE(BuildPlan().has_value());
  host_.kernel_minor = 5;
  host_.kernel_release = "6.5.0";
  const Error error = Refusal();
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(error.what,
            "--writable-root needs Linux 6.6 for user xattrs on tmpfs, and this kernel is 6.5.0");
}

TEST_F(Refused, IsARequestWithoutACommand) {
  SetCommand({});
  EXPECT_EQ(Refusal().kind, ErrorKind::kUsage);
}

TEST_F(Refused, IsANulByteInAnArgumentOrAVariable) {
  SetCommand({"echo", std::string("a\0b", 3)});
  EXPECT_EQ(Refusal().what, "argument 'a\\x00b' has a NUL byte");
  request_.steps = {{.shell = std::string("a\0b", 3)}};
  EXPECT_EQ(Refusal().what, "argument 'a\\x00b' has a NUL byte");
  SetCommand({"echo"});
  request_.environment = {{"A", std::string("\0", 1)}};
  EXPECT_EQ(Refusal().kind, ErrorKind::kRequest);
}

TEST_F(Refused, IsAPlanThatIsTooLarge) {
  request_.environment = {{"A", std::string(std::size_t{5} << 20U, 'x')}};
  const Error error = Refusal();
  EXPECT_NE(error.what.find("more than 4194304"), std::string::npos) << error.what;
}

TEST_F(Refused, AreUsersThatTheImageDoesNotName) {
  request_.user = {.user = "nosuch", .group = ""};
  EXPECT_EQ(Refusal().what, "--user: the image has no user 'nosuch'");
  request_.user = {.user = "root", .group = "nosuch"};
  EXPECT_EQ(Refusal().what, "--user: the image has no group 'nosuch'");
  request_.user = {.user = "4294967295", .group = ""};
  EXPECT_EQ(Refusal().kind, ErrorKind::kRequest) << "2^32-1 means 'no change' to the kernel";
}

TEST_F(Refused, IsARelativeWorkingDirectory) {
  request_.workdir = "x";
  EXPECT_EQ(Refusal().what, "--workdir 'x' is not an absolute path");
}

TEST_F(Refused, IsCountingRefusedCallsInSeveralSteps) {
  request_.steps = {{.shell = "one"}, {.shell = "two"}};
  request_.seccomp_log = true;
  const Error error = Refusal();
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(error.what, "refused calls are counted in a run of one step only");
}

TEST_F(Refused, IsAGrantAsLongAsThereIsNoBroker) {
  request_.grant_profile = {"openai"};
  const Error error = Refusal();
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(error.what,
            "grant profile 'openai': this version has no broker, so no run can be granted an API");
}

TEST_F(Refused, IsAFileInTheWayOfAVolume) {
  dir_.MakeDirectory("data");
  struct Row {
    std::string target;
    std::string file;
  };
  for (const Row& row :
       {Row{"/work", "a"}, Row{"/work/a", "a"}, Row{"/work/a", "a/b"}, Row{"/work/a/b", "a"}}) {
    request_.volumes.clear();
    AddVolume(dir_ / "data", row.target);
    request_.files = {{.path = row.file, .content = ""}};
    const Error error = Refusal();
    EXPECT_EQ(error.kind, ErrorKind::kRequest);
    EXPECT_EQ(error.what, "the file '" + row.file + "' would lie at '/work/" + row.file +
                              "', in the way of the volume on '" + row.target + "'");
  }
}

TEST_F(Refused, IsAFileThatIsInTheWayOfAnother) {
  request_.files = {{.path = "a", .content = ""}, {.path = "a", .content = "x"}};
  EXPECT_EQ(Refusal().what, "the file 'a' is given twice");
  request_.files = {{.path = "a/b", .content = ""}, {.path = "a", .content = ""}};
  EXPECT_EQ(Refusal().what, "the file 'a/b' would lie below the file 'a'");
}

TEST_F(Refused, AreFilesThatDoNotFitIntoTheTmpfs) {
  request_.limits.tmpfs_bytes = 65536;
  request_.files = {{.path = "a", .content = std::string(61440, 'x')},
                    {.path = "b", .content = "x"}};
  EXPECT_TRUE(BuildPlan().has_value());
  request_.files.push_back({.path = "c", .content = "x"});
  const Error error = Refusal();
  EXPECT_EQ(error.kind, ErrorKind::kCapacity);
  EXPECT_EQ(error.what, "the files take 69632 bytes of the run's tmpfs, which has 65536");
}

TEST_F(Refused, AreMoreFilesAndArtifactsThanTheLimits) {
  for (std::size_t i = 0; i < 65; ++i)
    request_.artifacts.push_back({.path = std::to_string(i), .destination = {}});
  EXPECT_EQ(Refusal().what, "at most 256 files of 67108864 bytes together and 64 artifacts");
  request_.artifacts.clear();
  for (std::size_t i = 0; i < 257; ++i)
    request_.files.push_back({.path = std::to_string(i), .content = ""});
  EXPECT_EQ(Refusal().what, "at most 256 files of 67108864 bytes together and 64 artifacts");
}

TEST_F(Refused, AreFilesInMoreFoldersThanAPlanHasSteps) {
  std::string path = "f";
  for (int i = 0; i < 500; ++i)
    path.insert(0, "d/");
  for (int i = 0; i < 10; ++i)
    request_.files.push_back({.path = std::to_string(i) + "/" + path, .content = ""});
  EXPECT_EQ(Refusal().hint, "the files lie in too many folders");
}

}  // namespace
}  // namespace plimsoll::plan
