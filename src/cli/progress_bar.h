// What long work is doing, on standard error: a bar on a terminal, otherwise one line a step.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "image/progress.h"

namespace plimsoll::cli {

// Clears its line when it goes. Silent when `quiet`.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ProgressBar(ProgressBar&&) = delete;
  ProgressBar& operator=(ProgressBar&&) = delete;
  ~ProgressBar();

  // Refers to this object.
  image::Progress Callback();

 private:
  void Show(const image::Step& step);

  std::mutex mutex_;  // the work may call from any of its threads
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::string step_;  // the last step told
  std::chrono::steady_clock::time_point next_ = {};
};

}  // namespace plimsoll::cli
