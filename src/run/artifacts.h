// Takes the artifacts of a run in, as init sends them when every process of the guest has ended.
#pragma once

#include <string>
#include <vector>

#include "init/wire.h"
#include "result/run_result.h"
#include "sys/unique_fd.h"

namespace plimsoll::run {

// What of the artifacts may be kept, whatever comes over the pipe.
struct ArtifactLimits {
  std::uint64_t bytes = 0;     // of one
  std::uint64_t together = 0;  // of all
};

// The read end of the artifacts' pipe. Whoever has taken the sandbox over could write into it, so
// sizes, indices and their order are checked; behind the first part that makes no sense nothing is
// taken.
class ArtifactIntake {
 public:
  // `source` is not open when there are no artifacts; `paths` in the plan's order.
  ArtifactIntake(sys::UniqueFd source, std::vector<std::string> paths, ArtifactLimits limits);

  // For poll(2); -1 once the pipe has ended.
  int PollFd() const { return source_.Get(); }
  // Takes what is in the pipe, without waiting for more.
  void Read();
  // Once the sandbox has ended: those that are whole, and why the others are not there.
  void Finish(result::RunResult& result);

 private:
  struct Entry {
    std::string content;
    bool ended = false;
    int error = 0;
    bool is_cut = false;  // by our own limits
  };

  void Feed(std::string_view bytes);
  bool TakePart(const init::ArtifactPart& part, std::string_view content);
  std::string ReasonOf(const Entry& entry) const;

  sys::UniqueFd source_;
  std::vector<std::string> paths_;
  ArtifactLimits limits_;
  std::vector<Entry> entries_;
  std::string pending_;      // a part that has not come whole
  std::size_t current_ = 0;  // the artifact whose parts come now
  std::uint64_t kept_ = 0;
  bool is_nonsense_ = false;
};

}  // namespace plimsoll::run
