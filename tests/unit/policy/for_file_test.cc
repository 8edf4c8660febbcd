// A profile that a user brought: what is taken, what is refused, and that no run has less than the
// guard.

#include "policy/for_file.h"

#include <asm/unistd.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <string>

#include "policy/interpret.h"
#include "support/temp_dir.h"
#include "unit/policy/policies.h"

namespace plimsoll::policy {
namespace {

class ForFileTest : public testing::Test {
 protected:
  Result<Policy> Get(const std::string& text, const Needs& needs = {}) const {
    return ForFile(folder_.WriteFile("p.json", text), needs, {6, 1}, folder_ / "cache");
  }

  std::uint32_t Answer(const Result<Policy>& policy, std::uint32_t number,
                       const Arguments& arguments = {}) const {
    EXPECT_TRUE(policy.has_value());
    return policy ? Interpret(policy->program, Call(number, arguments))->action : 0;
  }

  const testing_support::TempDir folder_;
};

TEST_F(ForFileTest, TheGuardStandsBeforeWhateverTheProfileAllows) {
  const auto policy = Get(ProfileText(
      R"({"names":["read","ptrace","mount","clone3","unshare"],"action":"SCMP_ACT_ALLOW"})"));
  EXPECT_EQ(Answer(policy, __NR_read), SECCOMP_RET_ALLOW);
  constexpr std::uint32_t kRefused[] = {__NR_ptrace, __NR_mount, __NR_unshare};
  for (const std::uint32_t number : kRefused)
    EXPECT_EQ(Answer(policy, number), Refuse(EPERM)) << number;
  EXPECT_EQ(Answer(policy, __NR_clone3), Refuse(ENOSYS));
}

TEST_F(ForFileTest, AProfileThatAllowsByDefaultIsRefusedWithAHint) {
  const auto policy = Get(R"({"defaultAction":"SCMP_ACT_ALLOW","syscalls":[]})");
  ASSERT_FALSE(policy.has_value());
  EXPECT_EQ(policy.error().kind, ErrorKind::kRequest);
  EXPECT_EQ(policy.error().what,
            "--seccomp '" + folder_ / "p.json" +
                "': allows by default: a system call that it does not name is let through");
  EXPECT_EQ(policy.error().hint, "'plimsoll policy check --foreign' lists all that is wrong");
}

TEST_F(ForFileTest, AWritableVolumeRestrictsAForeignProfileToo) {
  const std::string text = ProfileText(R"({"names":["chmod"],"action":"SCMP_ACT_ALLOW"})");
  EXPECT_EQ(Answer(Get(text), __NR_chmod, {0, 04755}), SECCOMP_RET_ALLOW);
  const auto restricted = Get(text, {.writable_volume = true});
  EXPECT_EQ(Answer(restricted, __NR_chmod, {0, 04755}), Refuse(EPERM));
  EXPECT_EQ(Answer(restricted, __NR_chmod, {0, 0755}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(restricted->differences, Names{"rw-volume"});
}

TEST_F(ForFileTest, EntriesAreChosenForTheKernelThatRuns) {
  const auto policy = Get(ProfileText(
      R"({"names":["read"],"action":"SCMP_ACT_ALLOW","includes":{"minKernel":"6.1"}},)"
      R"({"names":["write"],"action":"SCMP_ACT_ALLOW","includes":{"minKernel":"6.2"}})"));
  EXPECT_EQ(Answer(policy, __NR_read), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Answer(policy, __NR_write), Refuse(EPERM));
}

TEST_F(ForFileTest, AFileThatIsNoProfileIsNamed) {
  const auto policy = Get("{");
  ASSERT_FALSE(policy.has_value());
  EXPECT_NE(policy.error().Message().find(folder_ / "p.json"), std::string::npos)
      << policy.error().Message();
}

}  // namespace
}  // namespace plimsoll::policy
