// The kernel's version, Landlock, filters and executable memfds, and what is said where they lack.

#include <gtest/gtest.h>

#include <cerrno>

#include "doctor/check.h"
#include "unit/doctor/good_host.h"

namespace plimsoll::doctor {
namespace {

Check KernelCheck(std::uint32_t major, std::uint32_t minor) {
  Findings findings = GoodHost();
  findings.host.kernel_major = major;
  findings.host.kernel_minor = minor;
  findings.host.kernel_release = "release";
  return CheckOf(findings, "kernel");
}

TEST(JudgeKernel, RefusesOneThatIsOlderThan515) {
  const Check check = KernelCheck(5, 14);
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found, "release is older than 5.15");
  EXPECT_EQ(check.cures, std::vector<std::string>{"a kernel of 5.15 or newer"});
}

TEST(JudgeKernel, ListsWhatNewerOnesBring) {
  const Check check = KernelCheck(6, 6);
  EXPECT_EQ(check.answer, Answer::kYes);
  EXPECT_EQ(check.found,
            "release, at least 5.15 is needed; newer ones add Landlock for TCP ports (6.7), "
            "Landlock for ioctl on devices (6.10), Landlock for abstract Unix sockets and signals "
            "(6.12)");
  EXPECT_NE(KernelCheck(5, 15).found.find("newer ones add Landlock (5.19),"), std::string::npos);
}

TEST(JudgeKernel, ListsNothingForANewOne) {
  EXPECT_EQ(KernelCheck(6, 12).found, "release, at least 5.15 is needed");
  EXPECT_EQ(KernelCheck(7, 0).found, "release, at least 5.15 is needed");
}

TEST(JudgeMachine, RefusesWhatIsNotX86) {
  Findings findings = GoodHost();
  findings.machine = "i686";
  const Check check = CheckOf(findings, "machine");
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found, "the kernel says 'i686'; the system call filter is made for x86_64");
}

TEST(JudgeLandlock, SaysWhatEachAbiGuards) {
  Findings findings = GoodHost();
  findings.host.landlock_abi = 4;
  Check check = CheckOf(findings, "landlock");
  EXPECT_EQ(check.answer, Answer::kYes);
  EXPECT_EQ(check.found,
            "ABI 4 guards files, truncating, TCP ports; not yet ioctl on devices, abstract Unix "
            "sockets and signals");
  findings.host.landlock_abi = 7;
  EXPECT_EQ(CheckOf(findings, "landlock").found,
            "ABI 7 guards files, truncating, TCP ports, ioctl on devices, abstract Unix sockets "
            "and signals");
  findings.host.landlock_abi = 2;
  EXPECT_TRUE(CheckOf(findings, "landlock").found.starts_with("ABI 2 guards files; not yet "));
}

TEST(JudgeLandlock, DoesNotUseAbi1) {
  Findings findings = GoodHost();
  findings.host.landlock_abi = 1;
  const Check check = CheckOf(findings, "landlock");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.found,
            "ABI 1 is not used, since it breaks renames; the mount namespace and the filter stand "
            "alone");
}

TEST(JudgeLandlock, NamesTheBootParameterWithTheModulesThatAreActive) {
  Findings findings = GoodHost();
  findings.host.landlock_abi = 0;
  findings.landlock_error = EOPNOTSUPP;
  findings.security_modules = "capability,apparmor";
  const Check check = CheckOf(findings, "landlock");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.cures, std::vector<std::string>{
                             "boot with the kernel parameter lsm=landlock,capability,apparmor"});
}

TEST(JudgeLandlock, NamesTheKernelOptionWhereThereIsNone) {
  Findings findings = GoodHost();
  findings.host.landlock_abi = 0;
  findings.landlock_error = ENOSYS;
  EXPECT_EQ(CheckOf(findings, "landlock").cures,
            std::vector<std::string>{
                "a kernel of 5.19 or newer that is built with CONFIG_SECURITY_LANDLOCK"});
}

TEST(JudgeLandlock, NamesAFilterThatForbidsIt) {
  Findings findings = GoodHost();
  findings.host.landlock_abi = 0;
  findings.landlock_error = EPERM;
  findings.surroundings.has_seccomp = true;
  EXPECT_TRUE(CheckOf(findings, "landlock")
                  .found.starts_with("a seccomp filter around plimsoll forbids it"));
}

TEST(JudgeSeccomp, NamesTheKernelOption) {
  Findings findings = GoodHost();
  findings.seccomp = {.step = "seccomp", .error = EINVAL};
  const Check check = CheckOf(findings, "seccomp");
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found, "seccomp: Invalid argument (EINVAL)");
  EXPECT_EQ(check.cures,
            std::vector<std::string>{"a kernel that is built with CONFIG_SECCOMP_FILTER"});
}

TEST(JudgeSeccomp, TellsOfAFilterAroundPlimsoll) {
  Findings findings = GoodHost();
  findings.surroundings.has_seccomp = true;
  EXPECT_EQ(CheckOf(findings, "seccomp").found,
            "the kernel takes filters; one is around plimsoll already, and holds in the sandbox "
            "too");
}

TEST(JudgeMemfd, NamesTheSettingThatForbidsThem) {
  Findings findings = GoodHost();
  findings.memfd = {.step = "memfd_create", .error = EACCES};
  findings.settings["vm.memfd_noexec"] = "2";
  const Check check = CheckOf(findings, "executable-memfd");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.found,
            "memfd_create: Permission denied (EACCES) (vm.memfd_noexec=2); the init program is "
            "started from a file in the store instead");
  ASSERT_EQ(check.cures.size(), 1U);
  EXPECT_TRUE(check.cures[0].starts_with("sudo sysctl vm.memfd_noexec=1\n"));
}

TEST(JudgeMemfd, SaysYesWhereTheSettingAllowsThemOnRequest) {
  Findings findings = GoodHost();
  findings.settings["vm.memfd_noexec"] = "1";
  const Check check = CheckOf(findings, "executable-memfd");
  EXPECT_EQ(check.answer, Answer::kYes);
  EXPECT_EQ(check.found, "the init program can be started from memory (vm.memfd_noexec=1)");
}

}  // namespace
}  // namespace plimsoll::doctor
