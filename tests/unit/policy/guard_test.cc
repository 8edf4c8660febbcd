// What the guard refuses by its arguments.

#include "policy/guard.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>

#include "policy/interpret.h"

namespace plimsoll::policy {
namespace {

std::uint32_t Verdict(std::uint32_t number, std::uint64_t first, std::uint64_t second) {
  return Decide(Guard(), Call(number, {first, second, 0, 0, 0, 0}));
}

TEST(Guard, LeavesProcessOneItsPlaceInTheQueue) {
  constexpr std::uint32_t kNumbers[] = {__NR_sched_setparam, __NR_sched_setscheduler,
                                        __NR_sched_setattr};
  for (const std::uint32_t number : kNumbers) {
    EXPECT_EQ(Verdict(number, 1, 7), Refuse(EPERM)) << number;
    // The kernel looks at the low half of a process id.
    EXPECT_EQ(Verdict(number, 0x100000001, 7), Refuse(EPERM)) << number;
    for (const std::uint64_t process : {0UL, 2UL, 0x100000000UL, UINT64_MAX}) {
      EXPECT_EQ(Verdict(number, process, 1), SECCOMP_RET_ALLOW) << number << " of " << process;
    }
  }
}

TEST(Guard, RefusesPrioritiesOfProcessOneAndOfAllOfAUsersProcesses) {
  EXPECT_EQ(Verdict(__NR_setpriority, PRIO_PROCESS, 1), Refuse(EPERM));
  EXPECT_EQ(Verdict(__NR_setpriority, PRIO_USER, 0), Refuse(EPERM));
  EXPECT_EQ(Verdict(__NR_setpriority, PRIO_PROCESS, 0), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(__NR_setpriority, PRIO_PROCESS, 2), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(__NR_setpriority, PRIO_PGRP, 0), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(__NR_ioprio_set, 1, 1), Refuse(EPERM));
  EXPECT_EQ(Verdict(__NR_ioprio_set, 3, 0), Refuse(EPERM));
  EXPECT_EQ(Verdict(__NR_ioprio_set, 1, 0), SECCOMP_RET_ALLOW);
}

TEST(Guard, RefusesLimitsOfProcessOne) {
  for (const std::uint64_t process : {1UL, 0x100000001UL}) {
    EXPECT_EQ(Verdict(__NR_prlimit64, process, RLIMIT_CPU), Refuse(EPERM)) << process;
  }
  for (const std::uint64_t process : {0UL, 2UL, 0x100000000UL}) {
    EXPECT_EQ(Verdict(__NR_prlimit64, process, RLIMIT_CPU), SECCOMP_RET_ALLOW) << process;
  }
}

TEST(Guard, RefusesLeases) {
  for (const std::uint64_t command : {0UL + F_SETLEASE, 0x100000000UL + F_SETLEASE}) {
    EXPECT_EQ(Verdict(__NR_fcntl, 3, command), Refuse(EPERM)) << command;
  }
  for (const std::uint64_t command : {0U + F_GETFD, 0U + F_SETFL, 0U + F_DUPFD_CLOEXEC}) {
    EXPECT_EQ(Verdict(__NR_fcntl, 3, command), SECCOMP_RET_ALLOW) << command;
  }
}

TEST(Guard, LeavesOnlyUnixAndInternetSocketsToTheProfile) {
  for (const auto number : {std::uint32_t{__NR_socket}, std::uint32_t{__NR_socketpair}}) {
    for (std::uint64_t family = 0; family < 64; ++family) {
      const bool is_left = family == AF_UNIX || family == AF_INET || family == AF_INET6;
      const std::uint32_t answer = is_left ? SECCOMP_RET_ALLOW : Refuse(EPERM);
      EXPECT_EQ(Verdict(number, family, SOCK_STREAM), answer) << family;
      // The kernel looks at the low half of the family.
      EXPECT_EQ(Verdict(number, family | 1UL << 32U, SOCK_STREAM), answer) << family;
    }
  }
}

TEST(Guard, HasAReasonForEveryCallThatItHasASayIn) {
  const Verdicts guard = Guard();
  for (std::uint32_t number = 0; number < 600; ++number) {
    const Decision& decision = guard.At(number);
    const bool has_a_say = !decision.rules.empty() || decision.otherwise != SECCOMP_RET_ALLOW;
    EXPECT_EQ(!GuardReason(number).empty(), has_a_say) << number;
  }
  EXPECT_FALSE(GuardReason(UINT32_MAX).empty());
}

}  // namespace
}  // namespace plimsoll::policy
