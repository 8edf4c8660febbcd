// The trials on the machine of the test, where sandboxes work.
#include "doctor/trial.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "support/temp_dir.h"

namespace plimsoll::doctor {
namespace {

TEST(TryNamespaces, MakesAllSevenWhereSandboxesWork) {
  Findings findings;
  TryNamespaces(::geteuid(), ::getegid(), findings);
  std::vector<std::string> names;
  for (const NamespaceTrial& one : findings.namespaces) {
    names.push_back(one.name);
    EXPECT_TRUE(one.trial.Worked()) << one.name << ": " << one.trial.step << one.trial.error;
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"user", "mount", "pid", "net", "ipc", "uts", "cgroup"}));
}

TEST(TryNamespaces, ChangesNothingOfThisProcess) {
  const std::string mounts = testing_support::ReadWholeFile("/proc/self/mountinfo");
  char before[65] = {};
  char after[65] = {};
  ASSERT_EQ(::gethostname(before, sizeof before - 1), 0);
  Findings findings;
  TryNamespaces(::geteuid(), ::getegid(), findings);
  ASSERT_EQ(::gethostname(after, sizeof after - 1), 0);
  EXPECT_EQ(testing_support::ReadWholeFile("/proc/self/mountinfo"), mounts);
  EXPECT_STREQ(before, after);
}

TEST(TryNamespaces, NamesTheStepAndTheErrorOfIdsThatAreNotOurs) {
  Findings findings;
  TryNamespaces(::geteuid() + 1, ::getegid(), findings);
  ASSERT_EQ(findings.namespaces.size(), 7U);
  const Trial& user = findings.namespaces.front().trial;
  EXPECT_EQ(user.step, "write '/proc/self/uid_map'");
  EXPECT_EQ(user.error, EPERM);
  EXPECT_FALSE(findings.namespaces.back().trial.tried);
  EXPECT_FALSE(findings.proc.tried);
  EXPECT_FALSE(findings.overlay.tried);
}

TEST(TrySeccomp, WorksOnAKernelWithFilters) {
  EXPECT_TRUE(TrySeccomp().Worked());
}

}  // namespace
}  // namespace plimsoll::doctor
