// Answers the filter of a learning run as the policy would, and counts what it refuses.
#pragma once

#include <linux/filter.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <thread>
#include <utility>

#include "result/run_result.h"

struct seccomp_data;

namespace plimsoll::run {

// A thread that gets the filter's listener over `route` and answers until the last process with the
// filter has ended. Never lets a call go on: the answer is the errno that `answers`, the policy's
// own program, has for it (seccomp_unotify(2) says why nothing else is safe).
class Learner {
 public:
  // Both must outlive this object.
  Learner(int route, std::span<const sock_filter> answers);
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  Learner(Learner&&) = delete;
  Learner& operator=(Learner&&) = delete;
  ~Learner() { Stop(); }

  // Once the sandbox has ended: what was refused goes to the result.
  void Finish(result::RunResult& result);

 private:
  // Calls are told apart by their number and by those arguments that the program looked at.
  using Key = std::pair<std::uint32_t, std::array<std::uint64_t, 6>>;

  void Run();
  void Serve(int listener);
  int Answer(const seccomp_data& data);
  void Stop();

  int route_;
  std::span<const sock_filter> answers_;
  std::map<Key, result::RefusedCall> calls_;
  std::uint64_t uncounted_ = 0;
  std::thread thread_;
};

}  // namespace plimsoll::run
