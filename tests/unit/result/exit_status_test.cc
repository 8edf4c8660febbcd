#include "result/exit_status.h"

#include <gtest/gtest.h>

namespace plimsoll::result {
namespace {

TEST(ExitStatus, FollowsTheTable) {
  struct Row {
    const char* name;
    Cause cause;
    int exit_code;
    int signal;
    int expected;
  };
  const std::vector<Row> rows = {
      {"guest's 0", Cause::kExited, 0, 0, 0},
      {"guest's 125", Cause::kExited, 125, 0, 125},
      {"guest's 255", Cause::kExited, 255, 0, 255},
      {"KILL", Cause::kSignalled, 125, 9, 137},
      {"TERM", Cause::kSignalled, 125, 15, 143},
      {"real-time signal", Cause::kSignalled, 125, 64, 192},
      {"time limit, ended by TERM", Cause::kTimedOut, 125, 15, 124},
      {"time limit, exited by itself", Cause::kTimedOut, 0, 0, 124},
      {"memory limit", Cause::kOutOfMemory, 125, 9, 137},
      {"memory limit, signal unknown", Cause::kOutOfMemory, 125, 0, 137},
      {"not found", Cause::kNotExecuted, 127, 0, 127},
      {"not executable", Cause::kNotExecuted, 126, 0, 126},
      {"refused", Cause::kSetupFailed, 125, 0, 125},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ExitStatus(row.cause, row.exit_code, row.signal), row.expected) << row.name;
  }
}

}  // namespace
}  // namespace plimsoll::result
