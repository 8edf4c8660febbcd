// Memory, processes, files and processors: what ends or refuses, and that it is never silent.

#include "base/text.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::LimitMember;
using testing_support::Mechanism;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;

class Limits : public PlimsollTest {};

// dd fills a buffer of that size before it writes anything.
constexpr const char* kUseAGigabyte = "dd if=/dev/zero of=/dev/null bs=1000000000 count=1";

TEST_F(Limits, OnMemoryEndTheRunAndSayWhich) {
  const Outcome outcome = RunScript(kUseAGigabyte, {"--json", "--memory", "128M"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(outcome.status, 137);
  EXPECT_EQ(At(answer, "/origin"), "runner");
  EXPECT_EQ(At(answer, "/project/steps/0/oom"), "true");
  EXPECT_EQ(At(answer, "/project/steps/0/timed_out"), "false");
  EXPECT_EQ(LimitMember(answer, "memory", "hit"), "true");
  EXPECT_NE(At(answer, "/project/outcome_detail").find("memory budget"), std::string::npos)
      << At(answer, "/project/outcome_detail");
}

TEST_F(Limits, OnMemoryAreTheSumOfAllProcessesAndFiles) {
  const Outcome many =
      RunScript("for i in 1 2 3 4; do dd if=/dev/zero bs=60000000 count=1 | sleep 9 & done; wait",
                {"--memory", "128M", "--timeout", "30"});
  EXPECT_EQ(many.status, 137);
  const Outcome files = RunScript("head -c 200000000 /dev/zero > /tmp/f; sleep 9",
                                  {"--memory", "100M", "--tmpfs-size", "1G", "--timeout", "30"});
  EXPECT_EQ(files.status, 137);
}

TEST_F(Limits, OnMemoryLetAnythingBelowThemPass) {
  EXPECT_EQ(RunScript(kUseAGigabyte, {"--memory", "2G"}).status, 0);
}

TEST_F(Limits, ThatAreNotEnforcedAreNamedOnStandardErrorAndInTheResponse) {
  const Outcome outcome = RunScript("true", {"--json", "--memory", "512M", "--cpus", "1"});
  const auto answer = ParseAnswer(outcome);
  const std::string memory = Mechanism(answer, "memory");
  if (memory == "cgroup") {  // this host delegates a group: nothing to be said
    EXPECT_EQ(outcome.err, "");
    return;
  }
  EXPECT_EQ(memory, "watchdog");
  EXPECT_EQ(Mechanism(answer, "cpus"), "not enforced");
  EXPECT_NE(outcome.err.find("--memory is watched, but a hostile guest can evade that"),
            std::string::npos);
  EXPECT_NE(outcome.err.find("--cpus is not enforced"), std::string::npos);
  EXPECT_NE(outcome.err.find("memory, pids and cpu controllers"), std::string::npos);
}

TEST_F(Limits, ThatMustBeEnforcedRefuseTheRun) {
  const Outcome outcome = RunScript("echo ran", {"--json", "--cpu-time", "1", "--require-limits"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(At(answer, "/ran"), "no");
  EXPECT_EQ(At(answer, "/refusal/reason"), "capacity");
  EXPECT_NE(At(answer, "/refusal/message").find("--cpu-time"), std::string::npos);
  EXPECT_EQ(
      RunScript("exit 3", {"--pids-limit", "9", "--timeout", "50", "--require-limits"}).status, 3);
}

TEST_F(Limits, OnProcessesStopAForkBomb) {
  const Outcome outcome = RunExec({"--json", "--pids-limit", "32", "--timeout", "2", "-v",
                                   ProbesVolume(), "--", "/probes/fork_bomb"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(outcome.status, 124);
  EXPECT_EQ(At(answer, "/project/steps/0/timed_out"), "true");
  EXPECT_EQ(LimitMember(answer, "pids", "hit"), "true");
  const std::string mechanism = Mechanism(answer, "pids");
  EXPECT_TRUE(mechanism == "rlimit" || mechanism == "cgroup") << mechanism;
}

TEST_F(Limits, OnProcessesCountTheGuestsOwn) {
  const Outcome outcome = RunScript(
      "for i in $(seq 20); do sleep 9 & done 2>&1 | head -n 1; ls -d /proc/[0-9]* | wc -l",
      {"--pids-limit", "10"});
  EXPECT_NE(outcome.out.find("fork"), std::string::npos) << outcome.out << outcome.err;
  EXPECT_EQ(
      RunScript("for i in $(seq 20); do sleep 0 & done; wait; echo all", {"--pids-limit", "30"})
          .out,
      "all\n");
}

TEST_F(Limits, OnFilesHoldForAllOurWritableDirectoriesTogether) {
  for (const std::string folder : {"/tmp", "/work", "/run", "/dev/shm"}) {
    const Outcome outcome = RunScript(
        "dd if=/dev/zero of=" + folder + "/f bs=1M count=100000; stat -c %s " + folder + "/f",
        {"--tmpfs-size", "8M"});
    EXPECT_NE(outcome.err.find("No space left on device"), std::string::npos) << outcome.err;
    const auto size = ParseUint(outcome.out.substr(0, outcome.out.find('\n')));
    ASSERT_TRUE(size) << outcome.out;
    EXPECT_LE(*size, std::uint64_t{8} << 20U) << folder;
    EXPECT_GE(*size, std::uint64_t{7} << 20U) << folder;
  }
  EXPECT_EQ(RunScript("head -c 5000000 /dev/zero > /tmp/f && head -c 5000000 /dev/zero > /work/f",
                      {"--tmpfs-size", "8M"})
                .status,
            1);
}

TEST_F(Limits, OnFilesThatWereHitAreReported) {
  const auto answer = ParseAnswer(
      RunScript("head -c 99000000 /dev/zero > /tmp/f", {"--json", "--tmpfs-size", "8M"}));
  EXPECT_EQ(At(answer, "/project/steps/0/exit_code"), "1");
  EXPECT_EQ(Mechanism(answer, "tmpfs-size"), "tmpfs");
  EXPECT_EQ(LimitMember(answer, "tmpfs-size", "hit"), "true");
}

TEST_F(Limits, OnOutputThatWereHitAreReported) {
  const auto cut = ParseAnswer(RunScript("echo hello >&2", {"--json", "--output-limit", "2"}));
  EXPECT_EQ(At(cut, "/project/steps/0/stderr/truncated"), "true");
  EXPECT_EQ(LimitMember(cut, "output-limit", "hit"), "true");
  const auto whole = ParseAnswer(RunScript("echo hello", {"--json", "--output-limit", "6"}));
  EXPECT_EQ(LimitMember(whole, "output-limit", "hit"), "false");
}

// The guest ran into both, and nobody looked at that moment.
TEST_F(Limits, AreNotSaidToBeMissedWhenNobodyCanKnow) {
  const auto answer = ParseAnswer(
      RunScript("dd if=/dev/zero of=/tmp/x bs=64k count=99; rm /tmp/x",
                {"--json", "--tmpfs-size", "1M", "--timeout", "50", "--cpu-time", "50"}));
  EXPECT_NE(At(answer, "/project/steps/0/stderr/text").find("No space left"), std::string::npos);
  EXPECT_EQ(LimitMember(answer, "tmpfs-size", "hit"), "null");
  EXPECT_EQ(LimitMember(answer, "pids", "hit"), "null");
  EXPECT_EQ(LimitMember(answer, "memory", "hit"),
            Mechanism(answer, "memory") == "cgroup" ? "false" : "null");
  EXPECT_EQ(LimitMember(answer, "timeout", "hit"), "false");
  EXPECT_EQ(LimitMember(answer, "cpu-time", "hit"), "false");
}

TEST_F(Limits, OnFilesCountThemToo) {
  const Outcome outcome =
      RunScript("cd /tmp; for i in $(seq 3000); do touch f$i || break; done; ls | wc -l",
                {"--tmpfs-size", "64K"});
  const auto count = ParseUint(outcome.out.substr(0, outcome.out.find('\n')));
  ASSERT_TRUE(count) << outcome.out << outcome.err;
  EXPECT_LT(*count, 1100U);
}

// Where a volume lies on one of our directories, its file system is not the run's. The guest lives
// for thirty looks of the runner at its memory (one in 10 ms), of which the first would end it.
TEST_F(Limits, OnMemoryDoNotCountAVolume) {
  for (const std::string target : {"/run", "/work", "/tmp"}) {
    const Outcome outcome =
        RunScript("sleep 0.3; echo end", {"--memory", "64M", "-v", "/usr:" + target, "-w", "/"});
    EXPECT_EQ(outcome.out, "end\n") << target << outcome.err;
    EXPECT_EQ(outcome.status, 0) << target;
  }
}

TEST_F(Limits, OnFilesThatWereHitAreReportedBesideAVolume) {
  const Outcome outcome = RunScript("dd if=/dev/zero of=/tmp/f bs=64k 2>/dev/null; true",
                                    {"--json", "--tmpfs-size", "1M", "-v", "/usr:/work"});
  EXPECT_EQ(LimitMember(ParseAnswer(outcome), "tmpfs-size", "hit"), "true");
}

TEST_F(Limits, OnMemoryHaveADefault) {
  EXPECT_NE(Mechanism(ParseAnswer(RunScript("true", {"--json"})), "memory"), "missing");
}

// The guest counts as the user on the host, whose programs watch files too.
TEST_F(Limits, OnWatchesLeaveTheUserSome) {
  const Outcome outcome = RunScript(
      "cd /proc/sys/user; cat max_inotify_instances max_inotify_watches; "
      "echo 1000 > max_inotify_instances; cat max_inotify_instances");
  EXPECT_EQ(outcome.out, "64\n32768\n64\n") << outcome.err;
}

TEST_F(Limits, ACoreDumpIsNeverWritten) {
  EXPECT_EQ(RunScript("ulimit -c unlimited 2>/dev/null; ulimit -Hc; kill -SEGV $$").status, 139);
}

}  // namespace
}  // namespace plimsoll
