#include "support/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>

#include "sys/file.h"

namespace plimsoll::testing_support {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBlock = std::size_t{64} << 10U;

int MillisecondsUntil(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

sys::Pipe NewPipe(int bytes) {
  auto pipe = sys::MakePipe();
  if (!pipe) ::abort();
  if (bytes > 0) (void)::fcntl(pipe->write.Get(), F_SETPIPE_SZ, bytes);  // a wish
  return *std::move(pipe);
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In the new process. A test may itself run with signals ignored or blocked.
[[noreturn]] void Become(Command& command, int in, int out, int err) {
  const std::array<int, 3> streams = {in, out, err};
  for (int i = 0; i < 3; ++i) {
    if (::dup2(streams[static_cast<std::size_t>(i)], i) < 0) ::_exit(99);
  }
  sigset_t none;
  ::sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
  (void)::signal(SIGPIPE, SIG_DFL);
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) ::_exit(98);
  if (command.prepare) command.prepare();
  const std::vector<char*> arguments = Pointers(command.arguments);
  const std::vector<char*> environment = Pointers(command.environment);
  ::execve(arguments[0], arguments.data(), environment.data());
  ::_exit(97);
}

// Appends what is there; false at the end of the stream.
bool ReadSome(int fd, std::string& text) {
  std::array<char, kBlock> block;
  const ssize_t count = ::read(fd, block.data(), block.size());
  if (count > 0) text.append(block.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

Process::Process(Command command) : command_(std::move(command)), started_(Clock::now()) {
  sys::Pipe out = NewPipe(command_.pipe_bytes);
  sys::Pipe err = NewPipe(command_.pipe_bytes);
  sys::UniqueFd child_in;
  if (command_.input || command_.keep_input_open) {
    sys::Pipe in = NewPipe(0);
    child_in = std::move(in.read);
    in_ = std::move(in.write);
  } else {
    child_in.Reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) Become(command_, child_in.Get(), out.write.Get(), err.write.Get());
  pidfd_.Reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (pid_ < 0 || !pidfd_.IsOpen()) ::abort();
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  for (const int fd : {out_.Get(), err_.Get()})
    (void)::fcntl(fd, F_SETFL, O_NONBLOCK);
  if (command_.input) (void)::fcntl(in_.Get(), F_SETFL, O_NONBLOCK);
  (void)::signal(SIGPIPE, SIG_IGN);  // a program may end without having read its input
}

Process::~Process() {
  if (reaped_) return;
  Signal(SIGKILL);
  Reap();
}

void Process::Signal(int number) const {
  (void)::syscall(SYS_pidfd_send_signal, pidfd_.Get(), number, nullptr, 0);  // it may have ended
}

void Process::Write(std::string_view bytes) const {
  const auto written = sys::WriteAll(in_.Get(), bytes, "standard input");
  EXPECT_TRUE(written.has_value()) << written.error().Message();
}

// One round of whatever is ready; false when nothing was until the deadline.
bool Process::Pump(Clock::time_point deadline) {
  const bool feeding = command_.input && in_.IsOpen();
  std::array<struct pollfd, 3> events = {
      {{out_.Get(), POLLIN, 0}, {err_.Get(), POLLIN, 0}, {feeding ? in_.Get() : -1, POLLOUT, 0}}};
  if (::poll(events.data(), events.size(), MillisecondsUntil(deadline)) <= 0) return false;
  if (events[0].revents != 0 && !ReadSome(out_.Get(), outcome_.out)) out_.Reset();
  if (events[1].revents != 0 && !ReadSome(err_.Get(), outcome_.err)) err_.Reset();
  if (events[2].revents != 0) {
    const std::string_view rest = std::string_view(*command_.input).substr(written_);
    const ssize_t count = ::write(in_.Get(), rest.data(), rest.size());
    if (count >= 0) written_ += static_cast<std::size_t>(count);
    if (written_ == command_.input->size() || (count < 0 && errno != EAGAIN)) in_.Reset();
  }
  return true;
}

const std::string& Process::ReadUntil(std::string_view text) {
  const auto deadline = Clock::now() + kPatience;
  while (outcome_.out.find(text) == std::string::npos) {
    if (!out_.IsOpen() || !Pump(deadline)) {
      ADD_FAILURE() << "'" << text << "' never came; standard output: " << outcome_.out
                    << "; standard error: " << outcome_.err;
      break;
    }
  }
  return outcome_.out;
}

void Process::Reap() {
  siginfo_t info = {};
  (void)::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd_.Get()), &info, WEXITED);
  constexpr int kSignalBase = 128;
  outcome_.status = info.si_code == CLD_EXITED ? info.si_status : kSignalBase + info.si_status;
  outcome_.wall = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_);
  reaped_ = true;
}

Outcome Process::Wait() {
  const auto deadline = Clock::now() + kPatience;
  while (out_.IsOpen() || err_.IsOpen()) {
    if (Pump(deadline)) continue;
    ADD_FAILURE() << command_.arguments[0] << " did not end; standard error: " << outcome_.err;
    Signal(SIGKILL);
    break;
  }
  struct pollfd end = {.fd = pidfd_.Get(), .events = POLLIN, .revents = 0};
  if (::poll(&end, 1, MillisecondsUntil(deadline)) <= 0) {
    ADD_FAILURE() << command_.arguments[0] << " closed its streams and did not end";
    Signal(SIGKILL);
  }
  Reap();
  return outcome_;
}

Outcome RunCommand(Command command) {
  return Process(std::move(command)).Wait();
}

void AdoptOrphans() {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
}

std::optional<std::chrono::milliseconds> WaitForOrphans(std::chrono::milliseconds patience) {
  const auto begin = Clock::now();
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  (void)::sigprocmask(SIG_BLOCK, &child, nullptr);
  for (;;) {
    siginfo_t info = {};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL) != 0) break;  // ECHILD: none is left
    if (info.si_pid != 0) continue;
    const int left = MillisecondsUntil(begin + patience);
    const timespec wait = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1'000'000L};
    if (left > 0) {
      (void)::sigtimedwait(&child, nullptr, &wait);
      continue;
    }
    std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    for (pid_t pid = 0; children >> pid;)
      (void)::kill(pid, SIGKILL);
    while (::waitid(P_ALL, 0, &info, WEXITED | __WALL) == 0)
      continue;
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
}

}  // namespace plimsoll::testing_support
