#include "run/signals.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace plimsoll::run {
namespace {

// Puts the mask and the dispositions back.
class Signals : public ::testing::Test {
 protected:
  Signals() {
    EXPECT_EQ(::sigprocmask(SIG_SETMASK, nullptr, &mask_), 0);
    for (int number = 1; number < 32; ++number)
      (void)::sigaction(number, nullptr, &actions_[number]);
  }
  ~Signals() override {
    for (int number = 1; number < 32; ++number)
      (void)::sigaction(number, &actions_[number], nullptr);
    (void)::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

  sigset_t mask_ = {};
  struct sigaction actions_[32] = {};
};

TEST_F(Signals, ArriveAsNumbersInsteadOfEndingTheProcess) {
  const auto fd = TakeSignals();
  ASSERT_TRUE(fd.has_value());
  EXPECT_EQ(NextSignal(fd->Get()), 0);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH}) {
    ASSERT_EQ(::raise(number), 0);
    EXPECT_EQ(NextSignal(fd->Get()), number);
  }
  EXPECT_EQ(NextSignal(fd->Get()), 0);
}

TEST_F(Signals, ThatWereIgnoredStayIgnored) {
  (void)::signal(SIGHUP, SIG_IGN);
  const auto fd = TakeSignals();
  ASSERT_TRUE(fd.has_value());
  ASSERT_EQ(::raise(SIGHUP), 0);
  EXPECT_EQ(NextSignal(fd->Get()), 0);
}

TEST_F(Signals, OfChildrenAreNeverIgnored) {
  (void)::signal(SIGCHLD, SIG_IGN);
  ASSERT_TRUE(TakeSignals().has_value());
  struct sigaction action = {};
  ASSERT_EQ(::sigaction(SIGCHLD, nullptr, &action), 0);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace plimsoll::run
