// --timeout, --kill-after and --cpu-time: when they end a run, and what is said and kept.

#include "base/text.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Mechanism;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::WaitForOrphans;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

class TimeLimit : public PlimsollTest {};

TEST_F(TimeLimit, EndsProcessesThatIgnoreTermAfterTheGrace) {
  const Outcome outcome =
      RunScript("echo before; trap '' TERM; setsid sleep 99 & sleep 99; sleep 99",
                {"--timeout", "1", "--kill-after", "500ms"});
  EXPECT_EQ(outcome.status, 124);
  EXPECT_EQ(outcome.out, "before\n");
  EXPECT_GE(outcome.wall, 1500ms);
  EXPECT_LT(outcome.wall, 10s);
  EXPECT_TRUE(WaitForOrphans(1s));
}

TEST_F(TimeLimit, SendsTermFirstToEveryProcess) {
  const Outcome outcome = RunScript(
      "sh -c 'trap \"echo inner; exit\" TERM; while :; do sleep 0.05; done' &\n"
      "trap 'wait; echo outer; exit 3' TERM; while :; do sleep 0.05; done",
      {"--timeout", "500ms", "--kill-after", "30"});
  EXPECT_EQ(outcome.status, 124);
  EXPECT_EQ(outcome.out, "inner\nouter\n");
  EXPECT_LT(outcome.wall, 20s);
}

TEST_F(TimeLimit, EndsAGuestThatHasStopped) {
  EXPECT_EQ(RunScript("kill -STOP $$", {"--timeout", "200ms", "--kill-after", "100ms"}).status,
            124);
}

TEST_F(TimeLimit, IsToldApartFromTheGuestsOwn124) {
  const auto answer =
      ParseAnswer(RunScript("echo kept; exec sleep 99", {"--json", "--timeout", "300ms"}));
  EXPECT_EQ(At(answer, "/origin"), "runner");
  EXPECT_EQ(At(answer, "/ran"), "yes");
  EXPECT_EQ(At(answer, "/project/outcome"), "timed_out");
  EXPECT_EQ(At(answer, "/project/steps/0/exit_code"), "124");
  EXPECT_EQ(At(answer, "/project/steps/0/timed_out"), "true");
  EXPECT_EQ(At(answer, "/project/steps/0/oom"), "false");
  EXPECT_EQ(At(answer, "/project/steps/0/stdout/text"), "kept\n");
  EXPECT_EQ(Mechanism(answer, "timeout"), "timer");
}

TEST_F(TimeLimit, DoesNothingToARunThatEndsInTime) {
  const Outcome outcome = RunScript("exit 5", {"--timeout", "1h"});
  EXPECT_EQ(outcome.status, 5);
  EXPECT_LT(outcome.wall, 30s);
}

// One core's second of work costs more wall time on a busy machine, so only processor time is
// compared.
void ExpectAboutASecondOfProcessorTime(const Outcome& outcome) {
  EXPECT_EQ(outcome.status, 124);
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(At(answer, "/project/steps/0/timed_out"), "true");
  const auto used = ParseUint(At(answer, "/usage/cpu_ms"));
  ASSERT_TRUE(used);
  EXPECT_GE(*used, 900U);
  EXPECT_LE(*used, 1800U);
}

TEST_F(TimeLimit, OnProcessorTimeEndsALoop) {
  ExpectAboutASecondOfProcessorTime(
      RunScript("while :; do :; done", {"--json", "--cpu-time", "1"}));
}

TEST_F(TimeLimit, OnProcessorTimeAddsUpChildren) {
  ExpectAboutASecondOfProcessorTime(
      RunScript("for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; wait",
                {"--json", "--cpu-time", "1"}));
}

TEST_F(TimeLimit, OnProcessorTimeAddsUpChildrenThatHaveEnded) {
  ExpectAboutASecondOfProcessorTime(
      RunScript("while :; do (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); done",
                {"--json", "--cpu-time", "1"}));
}

TEST_F(TimeLimit, OnProcessorTimeIsNotWallTime) {
  EXPECT_EQ(RunScript("sleep 1.5; exit 6", {"--cpu-time", "1"}).status, 6);
}

}  // namespace
}  // namespace plimsoll
