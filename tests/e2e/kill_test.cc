// The runner is killed at every moment: no process, no mount, no file is left.

#include <signal.h>

#include <fstream>
#include <thread>

#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::Command;
using testing_support::ListTree;
using testing_support::Outcome;
using testing_support::PlimsollTest;
using testing_support::Process;
using testing_support::ReadWholeFile;
using testing_support::WaitForOrphans;

class Kill : public PlimsollTest {};

constexpr std::chrono::seconds kASecond{1};
constexpr int kRounds = 200;

// Children of the process now; the runner of root has a worker.
std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;)
    children.push_back(child);
  return children;
}

TEST_F(Kill, AtAnyMomentLeavesNothing) {
  ASSERT_EQ(RunExec({"--", "true"}).status, 0);  // the store is made by now
  const auto files = ListTree(Folder().Path());
  const auto store = ListTree(StorePath());
  const std::string mounts = ReadWholeFile("/proc/self/mountinfo");
  for (int round = 0; round < kRounds; ++round) {
    Process runner(Script("trap '' TERM; setsid sleep 99 & sleep 99", {"-v", ".:/opt/made"}));
    // The moment is what is tried out, so this one does not wait for anything.
    std::this_thread::sleep_for(std::chrono::microseconds(round * 10'000 / kRounds));
    runner.Signal(SIGKILL);
    runner.Wait();
    ASSERT_TRUE(WaitForOrphans(kASecond)) << "killed in round " << round;
  }
  EXPECT_EQ(ReadWholeFile("/proc/self/mountinfo"), mounts);
  EXPECT_EQ(ListTree(Folder().Path()), files);
  EXPECT_EQ(ListTree(StorePath()), store);
}

TEST_F(Kill, OfAnyOfOurProcessesEndsTheGuest) {
  Process first(Script("echo up; sleep 99"));
  first.ReadUntil("up");
  const std::vector<pid_t> inner = ChildrenOf(first.Pid());
  ASSERT_EQ(inner.size(), 1U);
  ASSERT_EQ(::kill(inner[0], SIGKILL), 0);  // the sandbox's process 1, or the worker of root
  const Outcome outcome = first.Wait();
  EXPECT_EQ(outcome.status, 137);
  EXPECT_NE(outcome.err.find("killed from outside"), std::string::npos) << outcome.err;
  EXPECT_TRUE(WaitForOrphans(kASecond));
}

// While a new store is being filled.
TEST_F(Kill, OfAFirstRunLeavesAStoreThatTheNextRunMends) {
  const std::string good = Folder() / "good";
  ASSERT_EQ(RunExec({"--store", good, "--", "true"}).status, 0);
  const auto names = [](const std::string& store) {
    std::vector<std::string> lines = ListTree(store);
    for (std::string& line : lines)
      line.erase(0, store.size());
    return lines;
  };
  for (int round = 0; round < 20; ++round) {
    const std::string store = Folder() / ("store" + std::to_string(round));
    Process runner(Exec({"--store", store, "--", "true"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * round));  // as above
    runner.Signal(SIGKILL);
    runner.Wait();
    EXPECT_EQ(RunExec({"--store", store, "--", "sh", "-c", "exit 7"}).status, 7) << round;
    EXPECT_EQ(names(store), names(good)) << "killed after " << 2 * round << " ms";
  }
}

TEST_F(Kill, OfARunWithAWorkspaceLeavesTheWorkspaceAsItWas) {
  Folder().WriteFile("workspace/f", "f\n");
  const auto before = ListTree(Folder().Path());
  Process runner(Script("echo up; sleep 99", {"-v", ".:/src", "--writable-root"}));
  runner.ReadUntil("up");
  runner.Signal(SIGKILL);
  runner.Wait();
  EXPECT_TRUE(WaitForOrphans(kASecond));
  EXPECT_EQ(ListTree(Folder().Path()), before);
}

}  // namespace
}  // namespace plimsoll
