#include "run/artifacts.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/units.h"

namespace plimsoll::run {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10U;

}  // namespace

ArtifactIntake::ArtifactIntake(sys::UniqueFd source, std::vector<std::string> paths,
                               ArtifactLimits limits)
    : source_(std::move(source)),
      paths_(std::move(paths)),
      limits_(limits),
      entries_(paths_.size()) {
  // Fails for no pipe of ours.
  if (source_.IsOpen()) (void)::fcntl(source_.Get(), F_SETFL, O_NONBLOCK);
}

void ArtifactIntake::Read() {
  std::array<char, kBlockBytes> buffer;
  while (source_.IsOpen()) {
    const ssize_t count = ::read(source_.Get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return source_.Reset();
    Feed({buffer.data(), static_cast<std::size_t>(count)});
  }
}

// The pipe is emptied to its end in any case: init waits as long as it is full.
void ArtifactIntake::Feed(std::string_view bytes) {
  if (is_nonsense_) return;
  pending_ += bytes;
  std::string_view rest = pending_;
  while (rest.size() >= sizeof(init::ArtifactPart)) {
    init::ArtifactPart part = {};
    std::memcpy(&part, rest.data(), sizeof part);
    is_nonsense_ = part.size > init::kMaxPartBytes;
    if (is_nonsense_ || rest.size() - sizeof part < part.size) break;
    is_nonsense_ = !TakePart(part, rest.substr(sizeof part, part.size));
    if (is_nonsense_) break;
    rest.remove_prefix(sizeof part + part.size);
  }
  pending_.erase(0, pending_.size() - rest.size());
}

// False when the part has no place here.
bool ArtifactIntake::TakePart(const init::ArtifactPart& part, std::string_view content) {
  if (current_ >= entries_.size() || part.artifact != current_) return false;
  Entry& entry = entries_[current_];
  if (part.size == 0) {
    entry.ended = true;
    entry.error = static_cast<int>(part.error);
    ++current_;
    return true;
  }
  entry.is_cut = entry.is_cut || entry.content.size() + content.size() > limits_.bytes ||
                 kept_ + content.size() > limits_.together;
  if (entry.is_cut) {
    kept_ -= entry.content.size();
    std::string().swap(entry.content);
  } else {
    kept_ += content.size();
    entry.content += content;
  }
  return true;
}

std::string ArtifactIntake::ReasonOf(const Entry& entry) const {
  if (!entry.ended) return "the sandbox ended before it was read";
  if (entry.is_cut) {
    return "the artifacts are larger than " + FormatBytes(limits_.together) + " together";
  }
  if (entry.error == EFBIG) return "it is larger than " + FormatBytes(limits_.bytes);
  if (entry.error == EMEDIUMTYPE) return "it is no regular file";
  if (entry.error == ELOOP) return "it is a symbolic link, or lies behind one";
  return DescribeErrno(entry.error);
}

void ArtifactIntake::Finish(result::RunResult& result) {
  Read();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (entry.ended && entry.error == 0 && !entry.is_cut) {
      result.artifacts.push_back({.path = paths_[i], .content = std::move(entry.content)});
    } else {
      result.missing_artifacts.push_back(
          {.path = paths_[i],
           .reason = ReasonOf(entry),
           .too_large = entry.ended && (entry.is_cut || entry.error == EFBIG)});
    }
  }
}

}  // namespace plimsoll::run
