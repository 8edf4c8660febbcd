// What a failed step becomes for the reader: the step in words, the cause, the cure.

#include <gtest/gtest.h>

#include <cerrno>

#include "launch/spawn.h"
#include "plan/plan_writer.h"
#include "support/temp_dir.h"

namespace plimsoll::launch {
namespace {

using init::Phase;
using init::StepKind;
using testing_support::TempDir;

plan::SandboxPlan PlanOf(plan::StepDraft step) {
  plan::PlanWriter writer;
  writer.Add(std::move(step));
  plan::SandboxPlan plan;
  plan.bytes = writer.Finish();
  return plan;
}

// A host's settings of namespaces; an empty value is a setting that the kernel does not have.
std::string HintWith(int error_number, const std::string& most, const std::string& clone,
                     const std::string& apparmor) {
  const TempDir settings;
  settings.MakeDirectory("user");
  settings.MakeDirectory("kernel");
  if (!most.empty()) settings.WriteFile("user/max_user_namespaces", most + "\n");
  if (!clone.empty()) settings.WriteFile("kernel/unprivileged_userns_clone", clone + "\n");
  if (!apparmor.empty()) {
    settings.WriteFile("kernel/apparmor_restrict_unprivileged_userns", apparmor + "\n");
  }
  return NamespaceHint(error_number, settings.Path());
}

TEST(NamespaceHint, NamesTheAppArmorRestriction) {
  const std::string hint = HintWith(EPERM, "15000", "1", "1");
  EXPECT_NE(hint.find("kernel.apparmor_restrict_unprivileged_userns=1"), std::string::npos) << hint;
  EXPECT_NE(hint.find("'plimsoll doctor' prints the profile"), std::string::npos) << hint;
}

TEST(NamespaceHint, DoesNotBlameAppArmorWhenItIsOff) {
  EXPECT_EQ(HintWith(EPERM, "15000", "1", "0").find("AppArmor"), std::string::npos);
  EXPECT_EQ(HintWith(EPERM, "15000", "", "").find("AppArmor"), std::string::npos);
}

TEST(NamespaceHint, NamesTheLimitOfNamespaces) {
  for (const std::string& hint : {HintWith(ENOSPC, "7", "1", ""), HintWith(EPERM, "0", "1", "1")}) {
    EXPECT_NE(hint.find("user.max_user_namespaces="), std::string::npos) << hint;
    EXPECT_NE(hint.find("sysctl user.max_user_namespaces=15000"), std::string::npos) << hint;
  }
}

TEST(NamespaceHint, NamesTheSwitchOfSomeDistributions) {
  EXPECT_NE(HintWith(EPERM, "15000", "0", "").find("kernel.unprivileged_userns_clone=0"),
            std::string::npos);
}

TEST(NamespaceHint, SendsToTheDoctorWhenItDoesNotKnow) {
  EXPECT_NE(HintWith(EPERM, "", "", "").find("'plimsoll doctor' looks for the reason"),
            std::string::npos);
}

TEST(StepError, ShowsTheStepInWordsAndTheErrno) {
  const Error error = StepError(
      PlanOf({.phase = Phase::kInit, .kind = StepKind::kHostname, .text = {"plimsoll"}}), 0, EPERM);
  EXPECT_EQ(error.Message(),
            "sandbox step 0 of 1 (hostname), set the host name 'plimsoll': Operation not permitted "
            "(EPERM)");
  EXPECT_EQ(error.kind, ErrorKind::kHost);
}

TEST(StepError, DoesNotSendToTheDiskWhenNamespacesRunOut) {
  const Error error =
      StepError(PlanOf({.phase = Phase::kLaunch, .kind = StepKind::kNamespaces}), 0, ENOSPC);
  EXPECT_EQ(error.Message().find("No space left"), std::string::npos);
  EXPECT_NE(error.Message().find("no more user namespaces are allowed"), std::string::npos);
}

TEST(StepError, KnowsTheCauses) {
  struct Row {
    plan::StepDraft step;
    int error_number;
    std::string hint;  // a part of it
  };
  const std::vector<Row> rows = {
      {{.phase = Phase::kLaunch, .kind = StepKind::kNamespaces}, EINVAL, "needs Linux 5.15"},
      {{.phase = Phase::kInit, .kind = StepKind::kMountFilesystem, .text = {"proc", "proc"}},
       EPERM,
       "the outer /proc is masked"},
      {{.phase = Phase::kInit, .kind = StepKind::kBind}, ESTALE, "was replaced"},
      {{.phase = Phase::kInit, .kind = StepKind::kOverlayRoot}, EPERM, "--writable-root"},
      {{.phase = Phase::kGuest, .kind = StepKind::kWorkingDirectory, .text = {"/x"}},
       ENOENT,
       "--workdir"},
  };
  for (const Row& row : rows) {
    const Error error = StepError(PlanOf(row.step), 0, row.error_number);
    EXPECT_NE(error.hint.find(row.hint), std::string::npos)
        << error.Message() << ": " << error.hint;
  }
}

TEST(StepError, OfAPlanThatInitCouldNotRead) {
  const Error error =
      StepError(PlanOf({.phase = Phase::kLaunch, .kind = StepKind::kNamespaces}), 4096, EBADMSG);
  EXPECT_EQ(error.what, "init could not read its plan");
}

}  // namespace
}  // namespace plimsoll::launch
