#include "run/pump.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "sys/file.h"

namespace plimsoll::run {
namespace {

// A pump whose source holds `bytes` and has ended.
result::Stream PumpOf(std::string_view bytes, int forward_fd, std::uint64_t keep) {
  auto pipe = sys::MakePipe();
  EXPECT_TRUE(sys::WriteAll(pipe->write.Get(), bytes, "pipe").has_value());
  pipe->write.Reset();
  OutputPump pump(std::move(pipe->read), forward_fd, keep, -1);
  pump.Notice(bytes.empty() ? POLLHUP : POLLIN);
  return pump.Finish();
}

std::string ReadBack(sys::Pipe& pipe) {
  pipe.write.Reset();
  return *sys::ReadAll(pipe.read.Get(), std::size_t{1} << 20U, "pipe");
}

TEST(OutputPump, ForwardsEverythingAndKeepsTheBeginning) {
  auto to = sys::MakePipe();
  const result::Stream stream = PumpOf("abcdef", to->write.Get(), 4);
  EXPECT_EQ(ReadBack(*to), "abcdef");
  EXPECT_EQ(stream.kept, "abcd");
  EXPECT_EQ(stream.bytes, 6U);
  EXPECT_TRUE(stream.truncated);
  EXPECT_EQ(stream.sha256, crypto::Sha256HexOf("abcdef"));
}

TEST(OutputPump, KeepsAllWithinTheLimit) {
  const result::Stream stream = PumpOf("abcd", -1, 4);
  EXPECT_EQ(stream.kept, "abcd");
  EXPECT_FALSE(stream.truncated);
}

TEST(OutputPump, OfASilentStreamStartsNothing) {
  const result::Stream stream = PumpOf("", -1, 4);
  EXPECT_EQ(stream.bytes, 0U);
  EXPECT_EQ(stream.sha256, crypto::Sha256HexOf(""));
  EXPECT_FALSE(stream.truncated);
}

TEST(OutputPump, IsNotPolledAgainOnceNoticed) {
  auto pipe = sys::MakePipe();
  ASSERT_TRUE(sys::WriteAll(pipe->write.Get(), "x", "pipe").has_value());
  pipe->write.Reset();
  OutputPump pump(std::move(pipe->read), -1, 4, -1);
  EXPECT_GE(pump.PollFd(), 0);
  pump.Notice(POLLIN);
  EXPECT_EQ(pump.PollFd(), -1);
  EXPECT_EQ(pump.Finish().kept, "x");
}

TEST(OutputPump, EndsWithTheGuestWhoeverHoldsTheOtherEnd) {
  for (const std::string_view bytes : {"", "last words"}) {
    auto pipe = sys::MakePipe();
    auto guest = sys::MakePipe();
    OutputPump pump(std::move(pipe->read), -1, 99, guest->read.Get());
    ASSERT_TRUE(sys::WriteAll(pipe->write.Get(), bytes, "pipe").has_value());
    if (!bytes.empty()) pump.Notice(POLLIN);
    guest->write.Reset();
    EXPECT_EQ(pump.Finish().kept, bytes);
  }
}

TEST(OutputPump, WaitsForAReaderThatIsNotReady) {
  auto to = sys::MakePipe();
  ASSERT_EQ(::fcntl(to->write.Get(), F_SETFL, O_NONBLOCK), 0);
  ASSERT_GT(::fcntl(to->write.Get(), F_SETPIPE_SZ, 4096), 0);
  auto pipe = sys::MakePipe();
  const std::string bytes(60'000, 'x');
  ASSERT_TRUE(sys::WriteAll(pipe->write.Get(), bytes, "pipe").has_value());
  pipe->write.Reset();
  OutputPump pump(std::move(pipe->read), to->write.Get(), 0, -1);
  pump.Notice(POLLIN);
  std::string read(bytes.size(), '\0');
  for (std::size_t at = 0; at < read.size();) {
    const ssize_t count = ::read(to->read.Get(), read.data() + at, read.size() - at);
    ASSERT_GT(count, 0);
    at += static_cast<std::size_t>(count);
  }
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(pump.Finish().bytes, bytes.size());
}

TEST(OutputPump, TakesAReaderThatHasLeftAsTheGuestsBusiness) {
  (void)::signal(SIGPIPE, SIG_IGN);
  auto to = sys::MakePipe();
  to->read.Reset();
  EXPECT_EQ(PumpOf("abc", to->write.Get(), 9).lost_errno, 0);
}

TEST(OutputPump, TellsWhyOutputWasLost) {
  const sys::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(PumpOf("abc", full.Get(), 9).lost_errno, ENOSPC);
}

}  // namespace
}  // namespace plimsoll::run
