#include "cli/progress_bar.h"

#include <unistd.h>

#include <algorithm>

#include "cli/report.h"
#include "sys/file.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kWidth = 24;
constexpr std::chrono::milliseconds kInterval{50};
constexpr std::string_view kClearLine = "\r\x1b[K";

void WriteTerminal(const std::string& text) {
  (void)sys::WriteAll(STDERR_FILENO, text, "standard error");  // nowhere else to complain
}

std::string Draw(const image::Step& step) {
  std::string line = std::string(kClearLine) + "plimsoll: " + step.what;
  if (step.total == 0) return line + " ...";
  const double part =
      std::min(1.0, static_cast<double>(step.done) / static_cast<double>(step.total));
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(kWidth));
  line += " [" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "] ";
  return line + std::to_string(static_cast<int>(part * 100)) + "%";
}

}  // namespace

ProgressBar::ProgressBar(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) WriteTerminal(std::string(kClearLine));
}

image::Progress ProgressBar::Callback() {
  if (quiet_) return {};
  return [this](const image::Step& step) { Show(step); };
}

void ProgressBar::Show(const image::Step& step) {
  const std::scoped_lock lock(mutex_);
  const bool changed = step.what != step_;
  step_ = step.what;
  if (!terminal_) {
    if (changed) PrintNote(step.what);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!changed && now < next_) return;
  next_ = now + kInterval;
  drawn_ = true;
  WriteTerminal(Draw(step));
}

}  // namespace plimsoll::cli
