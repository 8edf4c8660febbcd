// Every known reason why a host refuses namespaces, and the cure that is named for it.

#include <gtest/gtest.h>

#include <cerrno>

#include "doctor/check.h"
#include "unit/doctor/good_host.h"

namespace plimsoll::doctor {
namespace {

constexpr const char* kName = "user-namespaces";

TEST(JudgeUserNamespaces, SaysYesWithTheLimitWhenOneWasMade) {
  const Check check = CheckOf(GoodHost(), kName);
  EXPECT_EQ(check.answer, Answer::kYes);
  EXPECT_EQ(check.found, "one was made and its ids mapped (user.max_user_namespaces=15000)");
  EXPECT_TRUE(check.cures.empty());
}

TEST(JudgeUserNamespaces, NamesTheLimitAndNeverTheDisk) {
  Findings findings = WithoutUserNamespaces(ENOSPC);
  findings.settings["user.max_user_namespaces"] = "0";
  const Check check = CheckOf(findings, kName);
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found, "no more user namespaces are allowed (user.max_user_namespaces=0)");
  ASSERT_EQ(check.cures.size(), 1U);
  EXPECT_EQ(check.cures[0],
            "sudo sysctl user.max_user_namespaces=15000\n"
            "# to keep it: the line 'user.max_user_namespaces=15000' in "
            "/etc/sysctl.d/plimsoll.conf");
}

TEST(JudgeUserNamespaces, NamesTheSwitchOfDebian) {
  Findings findings = WithoutUserNamespaces(EPERM);
  findings.settings["kernel.unprivileged_userns_clone"] = "0";
  const Check check = CheckOf(findings, kName);
  EXPECT_EQ(check.found,
            "this host forbids user namespaces to ordinary users "
            "(kernel.unprivileged_userns_clone=0)");
  ASSERT_EQ(check.cures.size(), 1U);
  EXPECT_TRUE(check.cures[0].starts_with("sudo sysctl kernel.unprivileged_userns_clone=1\n"));
}

TEST(JudgeUserNamespaces, ShowsTheNarrowAppArmorProfileOfThisProgramFirst) {
  Findings findings = WithoutUserNamespaces(EPERM, "write '/proc/self/uid_map'");
  findings.settings["kernel.apparmor_restrict_unprivileged_userns"] = "1";
  findings.program = "/opt/plimsoll/bin/plimsoll";
  const Check check = CheckOf(findings, kName);
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found,
            "AppArmor restricts user namespaces of ordinary users "
            "(kernel.apparmor_restrict_unprivileged_userns=1), and no profile lets "
            "'/opt/plimsoll/bin/plimsoll' make them");
  ASSERT_EQ(check.cures.size(), 2U);
  EXPECT_EQ(check.cures[0],
            "sudo tee /etc/apparmor.d/plimsoll <<'END'\n"
            "abi <abi/4.0>,\n"
            "profile plimsoll /opt/plimsoll/bin/plimsoll flags=(unconfined) {\n"
            "  userns,\n"
            "}\n"
            "END\n"
            "sudo apparmor_parser -r /etc/apparmor.d/plimsoll");
  EXPECT_TRUE(
      check.cures[1].starts_with("sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0\n"));
}

TEST(JudgeUserNamespaces, QuotesAPathThatAppArmorWouldReadAsAPattern) {
  Findings findings = WithoutUserNamespaces(EPERM);
  findings.settings["kernel.apparmor_restrict_unprivileged_userns"] = "1";
  findings.program = "/home/a b/[x]/plimsoll";
  const Check check = CheckOf(findings, kName);
  ASSERT_FALSE(check.cures.empty());
  EXPECT_NE(check.cures[0].find(R"(profile plimsoll "/home/a b/\[x\]/plimsoll" flags=)"),
            std::string::npos)
      << check.cures[0];
}

TEST(JudgeUserNamespaces, SaysYesWhereAProfileLiftsTheRestriction) {
  Findings findings = GoodHost();
  findings.settings["kernel.apparmor_restrict_unprivileged_userns"] = "1";
  findings.surroundings.apparmor_profile = "plimsoll (unconfined)";
  const Check check = CheckOf(findings, kName);
  EXPECT_EQ(check.answer, Answer::kYes);
  EXPECT_EQ(check.found, "AppArmor restricts them, but profile 'plimsoll (unconfined)' does not");
}

TEST(JudgeUserNamespaces, NamesAChroot) {
  Findings findings = WithoutUserNamespaces(EPERM);
  findings.surroundings.in_chroot = true;
  EXPECT_EQ(CheckOf(findings, kName).found,
            "this process is in a chroot, where the kernel refuses user namespaces");
}

TEST(JudgeUserNamespaces, NamesAContainersFilterAndANarrowerProfileFirst) {
  for (const int error : {EPERM, ENOSYS}) {
    Findings findings = WithoutUserNamespaces(error);
    findings.surroundings.has_seccomp = true;
    const Check check = CheckOf(findings, kName);
    EXPECT_EQ(check.found,
              "a seccomp filter around plimsoll, as container engines set it, forbids clone3 with "
              "namespaces");
    ASSERT_EQ(check.cures.size(), 2U);
    EXPECT_TRUE(check.cures[0].starts_with("podman run --security-opt seccomp=PROFILE"));
    EXPECT_TRUE(check.cures[1].starts_with("podman run --security-opt seccomp=unconfined"));
  }
}

TEST(JudgeUserNamespaces, NamesTooManyProcesses) {
  const Check check = CheckOf(WithoutUserNamespaces(EAGAIN), kName);
  EXPECT_EQ(check.found,
            "clone3: Resource temporarily unavailable (EAGAIN); this user has as many processes as "
            "it may have");
  EXPECT_EQ(check.cures, std::vector<std::string>{"ulimit -u unlimited"});
}

TEST(JudgeUserNamespaces, NamesAKernelWithoutThem) {
  const Check check = CheckOf(WithoutUserNamespaces(EINVAL), kName);
  EXPECT_EQ(check.found, "this kernel is built without user namespaces");
  EXPECT_EQ(check.cures, std::vector<std::string>{"a kernel that is built with CONFIG_USER_NS"});
}

TEST(JudgeUserNamespaces, OffersNoCureForAReasonThatItDoesNotKnow) {
  const Check check = CheckOf(WithoutUserNamespaces(EPERM), kName);
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found,
            "clone3: Operation not permitted (EPERM), and no known setting of this host is the "
            "reason");
  EXPECT_TRUE(check.cures.empty());
}

TEST(JudgeUserNamespaces, WhatNeedsThemIsNotBlamedForTheirLack) {
  const Findings findings = WithoutUserNamespaces(EPERM);
  for (const char* name : {"namespaces", "proc", "overlay"}) {
    const Check check = CheckOf(findings, name);
    EXPECT_EQ(check.found, "not tried: it needs a user namespace") << name;
    EXPECT_TRUE(check.cures.empty()) << name;
  }
}

TEST(JudgeNamespaces, ListsAllSeven) {
  const Check check = CheckOf(GoodHost(), "namespaces");
  EXPECT_EQ(check.answer, Answer::kYes);
  EXPECT_EQ(check.found, "user, mount, pid, net, ipc, uts, cgroup: each was made and used");
}

TEST(JudgeNamespaces, NamesEachThatFailedWithItsLimit) {
  Findings findings = GoodHost();
  findings.namespaces[3] = {.name = "net",
                            .setting = "user.max_net_namespaces",
                            .trial = {.step = "clone3", .error = ENOSPC}};
  findings.namespaces[6] = {
      .name = "cgroup", .setting = {}, .trial = {.step = "clone3", .error = EINVAL}};
  findings.settings["user.max_net_namespaces"] = "0";
  const Check check = CheckOf(findings, "namespaces");
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found,
            "net: no more are allowed (user.max_net_namespaces=0); cgroup: clone3: Invalid "
            "argument (EINVAL)");
  ASSERT_EQ(check.cures.size(), 2U);
  EXPECT_TRUE(check.cures[0].starts_with("sudo sysctl user.max_net_namespaces=15000\n"));
  EXPECT_EQ(check.cures[1], "a kernel that is built with cgroup namespaces");
}

TEST(JudgeProc, SaysThatTheOuterProcIsMasked) {
  Findings findings = GoodHost();
  findings.proc = {.step = "mount proc", .error = EPERM};
  findings.proc_covers = {"/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sys"};
  const Check check = CheckOf(findings, "proc");
  EXPECT_EQ(check.answer, Answer::kNo);
  EXPECT_EQ(check.found,
            "the outer /proc is masked ('/proc/kcore', '/proc/keys', '/proc/timer_list', ...), as "
            "in a container, so the kernel refuses a fresh one");
  EXPECT_EQ(check.cures,
            (std::vector<std::string>{"podman run --security-opt unmask=ALL ...",
                                      "docker run --security-opt systempaths=unconfined ..."}));
}

TEST(JudgeProc, KeepsTheErrorWhenNothingIsMasked) {
  Findings findings = GoodHost();
  findings.proc = {.step = "mount proc", .error = EPERM};
  EXPECT_EQ(CheckOf(findings, "proc").found, "mount proc: Operation not permitted (EPERM)");
}

TEST(JudgeOverlay, IsOnlyWeakerAndNamesTheKernelThatBringsIt) {
  Findings findings = GoodHost();
  findings.host.kernel_minor = 1;
  findings.overlay = {.step = "set a user xattr on tmpfs", .error = EOPNOTSUPP};
  const Check check = CheckOf(findings, "overlay");
  EXPECT_EQ(check.answer, Answer::kWeaker);
  EXPECT_EQ(check.found,
            "no --writable-root, and no volume at a place that the image lacks: set a user xattr "
            "on tmpfs: Operation not supported (EOPNOTSUPP)");
  EXPECT_EQ(check.cures, std::vector<std::string>{"a kernel of 6.6 or newer"});
}

}  // namespace
}  // namespace plimsoll::doctor
