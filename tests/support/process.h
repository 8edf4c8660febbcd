// Programs run by tests, in surroundings that the test chooses, and what they left behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sys/unique_fd.h"

namespace plimsoll::testing_support {

// The longest that a test waits for anything: only a broken program ever takes that long.
inline constexpr std::chrono::seconds kPatience{60};

// What to run, and in which surroundings.
struct Command {
  std::vector<std::string> arguments;     // the first one is the program's path
  std::vector<std::string> environment;   // the whole of it, NAME=VALUE
  std::string directory = {};             // where to start; empty: where the test is
  std::optional<std::string> input = {};  // for standard input, and then its end; absent: /dev/null
  bool keep_input_open = false;           // standard input is a pipe that Write() fills
  int pipe_bytes = 0;                     // capacity of both output pipes; 0: the kernel's default
  std::function<void()> prepare = {};  // called in the new process just before the program starts
};

// What became of it.
struct Outcome {
  int status = -1;  // as a shell shows it: the exit code, or 128 and the signal
  std::string out;
  std::string err;
  std::chrono::milliseconds wall{0};
};

// A running program. The destructor kills and reaps it.
class Process {
 public:
  explicit Process(Command command);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t Pid() const { return pid_; }
  void Signal(int number) const;
  void Write(std::string_view bytes) const;
  void CloseInput() { in_.Reset(); }
  // Reads standard output until it holds `text`; all that was read so far. Fails the test when the
  // stream ends first, or after kPatience.
  const std::string& ReadUntil(std::string_view text);
  // Empties both streams and waits for the end; kills it and fails the test after kPatience.
  Outcome Wait();

 private:
  bool Pump(std::chrono::steady_clock::time_point deadline);
  void Reap();

  Command command_;
  std::chrono::steady_clock::time_point started_;
  pid_t pid_ = -1;
  sys::UniqueFd pidfd_;
  sys::UniqueFd in_;
  sys::UniqueFd out_;
  sys::UniqueFd err_;
  std::size_t written_ = 0;
  bool reaped_ = false;
  Outcome outcome_;
};

Outcome RunCommand(Command command);

// Makes this process the one that orphans of its descendants go to, so that WaitForOrphans() sees
// whatever a program left running.
void AdoptOrphans();

// Waits until no descendant is left, at most `patience`; how long it took, or nothing when some
// were left, which are then killed. The process 1 of a pid namespace ends after everything in it,
// so this covers sandboxes. Call it when every Process has been waited for.
std::optional<std::chrono::milliseconds> WaitForOrphans(std::chrono::milliseconds patience);

}  // namespace plimsoll::testing_support
