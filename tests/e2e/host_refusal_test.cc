// Hosts that refuse what a sandbox needs: plimsoll says which setting it is, and runs nothing.

#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Command;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::RunCommand;
using testing_support::Words;

class HostRefusal : public PlimsollTest {
 protected:
  // `exec FLAGS -- echo ran` in namespaces of the test's own, after `preparation` as their root;
  // "$@" is the command.
  Command Within(const std::string& preparation, Words flags = {}) const {
    flags.insert(flags.end(), {"--", "echo", "ran"});
    Command command = Exec(std::move(flags));
    command.arguments.insert(
        command.arguments.begin(),
        {"/usr/bin/unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork",
         "--mount-proc", "/bin/sh", "-ec", preparation + "; exec \"$@\"", "sh"});
    return command;
  }
};

TEST_F(HostRefusal, OfUserNamespacesNamesTheLimit) {
  ASSERT_EQ(RunExec({"--", "true"}).status, 0);  // the store is there
  const Outcome outcome =
      RunCommand(Within("echo 0 > /proc/sys/user/max_user_namespaces", {"--json"}));
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(At(answer, "/ran"), "no");
  EXPECT_EQ(At(answer, "/refusal/reason"), "host");
  EXPECT_EQ(At(answer, "/project/steps"), "0");
  EXPECT_NE(outcome.err.find("user namespaces"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("user.max_user_namespaces=0"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("No space left"), std::string::npos) << outcome.err;
}

TEST_F(HostRefusal, OfAFreshProcNamesTheMask) {
  const Outcome outcome = RunCommand(Within(
      "mount -t tmpfs none /proc/acpi 2>/dev/null || mount -t tmpfs none /proc/scsi", {"--json"}));
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(outcome.status, 125) << outcome.out;
  EXPECT_EQ(At(answer, "/ran"), "no");
  EXPECT_NE(outcome.err.find("the outer /proc is masked"), std::string::npos) << outcome.err;
}

TEST_F(HostRefusal, IsNoneInNamespacesOfAnOrdinaryKind) {
  const Outcome outcome = RunCommand(Within("true"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ran\n");
}

}  // namespace
}  // namespace plimsoll
