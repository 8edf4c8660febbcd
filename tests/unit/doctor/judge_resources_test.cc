// Cgroup, inherited limits and the store: what is weaker, why, and what to do about it.

#include <gtest/gtest.h>

#include <cerrno>

#include "doctor/check.h"
#include "unit/doctor/good_host.h"

namespace plimsoll::doctor {
namespace {

constexpr const char* kScope =
    "systemd-run --user --scope -p Delegate=yes plimsoll exec -- COMMAND";

TEST(JudgeCgroup, SaysYesWhenTheGroupIsDelegatedWithAllControllers) {
  const Check check = CheckOf(GoodHost(), "cgroup");
  EXPECT_EQ(check.answer, Answer::kYes);
  EXPECT_EQ(check.found, "group '/a' is delegated with memory, pids and cpu");
}

TEST(JudgeCgroup, NamesAScopeForAGroupThatIsNotDelegated) {
  Findings findings = GoodHost();
  findings.cgroup.writable = false;
  const Check check = CheckOf(findings, "cgroup");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.found,
            "group '/a' is not delegated to you; --memory is watched, --pids-limit is an rlimit, "
            "--cpus is not enforced");
  EXPECT_EQ(check.cures, std::vector<std::string>{kScope});
}

TEST(JudgeCgroup, ShowsTheDropInWhenTheUsersManagerLacksAController) {
  Findings findings = GoodHost();
  findings.cgroup.controllers = {"memory", "pids"};
  findings.cgroup.user_controllers = {"memory", "pids"};
  const Check check = CheckOf(findings, "cgroup");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.found,
            "group '/a' is delegated without the cpu controller; --cpus is not enforced");
  ASSERT_EQ(check.cures.size(), 2U);
  EXPECT_NE(check.cures[0].find("[Service]\\nDelegate=cpu memory pids\\n"), std::string::npos);
  EXPECT_NE(check.cures[0].find("/etc/systemd/system/user@.service.d/plimsoll.conf"),
            std::string::npos);
  EXPECT_EQ(check.cures[1], kScope);
}

TEST(JudgeCgroup, NamesTheControllersThatAreMissing) {
  Findings findings = GoodHost();
  findings.cgroup.controllers = {"cpu"};
  EXPECT_TRUE(CheckOf(findings, "cgroup")
                  .found.starts_with("group '/a' is delegated without memory, pids; "));
}

TEST(JudgeCgroup, ShowsHowToDelegateByHandWithoutSystemd) {
  Findings findings = GoodHost();
  findings.cgroup.writable = false;
  findings.surroundings.has_systemd = false;
  const Check check = CheckOf(findings, "cgroup");
  ASSERT_EQ(check.cures.size(), 1U);
  EXPECT_NE(check.cures[0].find("sudo chown -R 1001 /sys/fs/cgroup/plimsoll\n"), std::string::npos)
      << check.cures[0];
}

TEST(JudgeCgroup, NamesTheBootParameterOfAHostWithVersion1Only) {
  Findings findings = GoodHost();
  findings.cgroup = {};
  Check check = CheckOf(findings, "cgroup");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.cures, std::vector<std::string>{
                             "boot with the kernel parameter systemd.unified_cgroup_hierarchy=1"});
  findings.surroundings.has_systemd = false;
  EXPECT_EQ(CheckOf(findings, "cgroup").cures,
            std::vector<std::string>{
                "boot with the kernel parameter cgroup_no_v1=all, and mount cgroup2 on "
                "/sys/fs/cgroup"});
}

TEST(JudgeLimits, AcceptsUnlimitedAndRoomyOnes) {
  Findings findings = GoodHost();
  findings.surroundings.limits = {
      {.name = "nproc"}, {.name = "nofile", .soft = 256, .hard = 4096}, {.name = "as"}};
  const Check check = CheckOf(findings, "limits");
  EXPECT_EQ(check.answer, Answer::kYes);
  EXPECT_EQ(check.found, "what the guest inherits leaves it room");
}

TEST(JudgeLimits, NamesTooFewProcessesAndTheCommandThatRaisesThem) {
  Findings findings = GoodHost();
  findings.surroundings.limits = {{.name = "nproc", .soft = 100, .hard = 5000}};
  const Check check = CheckOf(findings, "limits");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.found,
            "nproc is limited to 100: it counts all processes of this user, and a guest may have "
            "512");
  EXPECT_EQ(check.cures, std::vector<std::string>{"ulimit -u 5000"});
}

TEST(JudgeLimits, NamesTheFileForALimitThatThisUserCannotRaise) {
  Findings findings = GoodHost();
  findings.surroundings.limits = {{.name = "as", .soft = 1U << 30U, .hard = 1U << 30U}};
  EXPECT_EQ(CheckOf(findings, "limits").cures,
            std::vector<std::string>{"raise 'as' in /etc/security/limits.conf, then log in anew"});
}

TEST(JudgeLimits, NamesEachThatIsTooLow) {
  Findings findings = GoodHost();
  findings.surroundings.limits = {{.name = "fsize", .soft = 0},
                                  {.name = "cpu", .soft = 10, .hard = 10}};
  const Check check = CheckOf(findings, "limits");
  EXPECT_EQ(check.found,
            "fsize is limited to 0: the guest's files, and an image's, are cut there; cpu is "
            "limited to 10: every process of the guest ends there");
  EXPECT_EQ(check.cures.size(), 2U);
  EXPECT_EQ(check.cures[0], "ulimit -f unlimited");
}

TEST(JudgeStore, SaysWhereItIsOrWillBe) {
  Findings findings = GoodHost();
  EXPECT_EQ(CheckOf(findings, "store").found,
            "'/home/u/.local/share/plimsoll' is there, with hard links and at least 64 MiB free");
  findings.store.exists = false;
  EXPECT_EQ(CheckOf(findings, "store").found,
            "'/home/u/.local/share/plimsoll' will be made at the first run, with hard links and "
            "at least 64 MiB free");
}

TEST(JudgeStore, SaysNoWhenItCannotBeMade) {
  Findings findings = GoodHost();
  findings.store.exists = false;
  findings.store.write_error =
      Error{.kind = ErrorKind::kHost, .what = "make a folder in '/'", .sys_errno = EACCES};
  const Check check = CheckOf(findings, "store");
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found,
            "'/home/u/.local/share/plimsoll' cannot be made: make a folder in '/': Permission "
            "denied (EACCES)");
  EXPECT_EQ(check.cures,
            std::vector<std::string>{"name a folder of yours with --store or PLIMSOLL_STORE"});
}

TEST(JudgeStore, LetsOneThatCannotBeWrittenServeWhatItHas) {
  Findings findings = GoodHost();
  findings.store.write_error =
      Error{.kind = ErrorKind::kHost, .what = "mkdtemp", .sys_errno = EROFS};
  const Check check = CheckOf(findings, "store");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.found,
            "'/home/u/.local/share/plimsoll' takes no new images: mkdtemp: Read-only file system "
            "(EROFS)");
}

TEST(JudgeStore, SaysNoWhereNothingMayBeExecuted) {
  Findings findings = GoodHost();
  findings.store.noexec = true;
  const Check check = CheckOf(findings, "store");
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found,
            "'/home/u/.local/share/plimsoll' is on a file system where nothing may be executed "
            "(noexec)");
}

TEST(JudgeStore, IsWeakerWithLittleSpaceOrWithoutHardLinks) {
  Findings findings = GoodHost();
  findings.store.free_bytes = 1;
  EXPECT_EQ(CheckOf(findings, "store").answer, Answer::kWeaker);
  EXPECT_EQ(CheckOf(findings, "store").cures[0], "plimsoll image rm NAME");
  findings = GoodHost();
  findings.store.link_error = EPERM;
  const Check check = CheckOf(findings, "store");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.found,
            "'/home/u/.local/share/plimsoll' is on a file system without hard links (EPERM): every "
            "image takes the room of all its layers");
}

}  // namespace
}  // namespace plimsoll::doctor
