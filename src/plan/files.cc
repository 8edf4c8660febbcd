// The files of a request, written into the run's own tmpfs, and its artifacts, read back from where
// the guest leaves them.

#include <algorithm>

#include "base/text.h"
#include "plan/draft.h"

namespace plimsoll::plan {
namespace {

using init::Phase;
using init::StepKind;

constexpr request::RequestLimits kLimits;
constexpr std::uint64_t kTmpfsBlock = 4096;

Error RequestError(std::string what, std::string hint = {}) {
  return Error{.kind = ErrorKind::kRequest, .what = std::move(what), .hint = std::move(hint)};
}

bool IsBeneath(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
}

// A volume's folder belongs to the host, where nothing is made for a run.
Result<void> RefuseInVolume(const Draft& draft, const request::File& file) {
  const std::string path = std::string(request::kProjectFolder) + "/" + file.path;
  for (const CheckedVolume& volume : draft.volumes) {
    const std::string& target = volume.target;
    if (target != path && !IsBeneath(path, target) && !IsBeneath(target, path)) continue;
    return RequestError("the file " + Quote(file.path) + " would lie at " + Quote(path) +
                            ", in the way of the volume on " + Quote(target),
                        "put the file into the volume's folder on the host, or mount the volume "
                        "elsewhere");
  }
  return {};
}

Result<void> RefuseClash(const std::vector<request::File>& files) {
  for (const request::File& file : files) {
    for (const request::File& other : files) {
      if (&file == &other) continue;
      if (file.path == other.path) {
        return RequestError("the file " + Quote(file.path) + " is given twice");
      }
      if (IsBeneath(file.path, other.path)) {
        return RequestError("the file " + Quote(file.path) + " would lie below the file " +
                            Quote(other.path));
      }
    }
  }
  return {};
}

Result<void> RefuseTooMuch(const Draft& draft) {
  const request::RunRequest& request = draft.input.request;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  for (const request::File& file : request.files) {
    bytes += file.content.size();
    blocks += (file.content.size() + kTmpfsBlock - 1) / kTmpfsBlock;
  }
  if (request.files.size() > kLimits.files || request.artifacts.size() > kLimits.artifacts ||
      bytes > kLimits.file_bytes) {
    return RequestError("at most " + std::to_string(kLimits.files) + " files of " +
                        std::to_string(kLimits.file_bytes) + " bytes together and " +
                        std::to_string(kLimits.artifacts) + " artifacts");
  }
  if (blocks * kTmpfsBlock <= request.limits.tmpfs_bytes) return {};
  return Error{.kind = ErrorKind::kCapacity,
               .what = "the files take " + std::to_string(blocks * kTmpfsBlock) +
                       " bytes of the run's tmpfs, which has " +
                       std::to_string(request.limits.tmpfs_bytes),
               .hint = "a larger limit of tmpfs-size makes room"};
}

}  // namespace

Result<void> CheckFiles(const Draft& draft) {
  PLIMSOLL_TRY(RefuseTooMuch(draft));
  PLIMSOLL_TRY(RefuseClash(draft.input.request.files));
  for (const request::File& file : draft.input.request.files)
    PLIMSOLL_TRY(RefuseInVolume(draft, file));
  return {};
}

void AddFiles(Draft& draft, std::vector<std::string>& made) {
  const std::string folder(request::kProjectFolder.substr(1));  // its name in the scratch
  for (const request::File& file : draft.input.request.files) {
    MakeFoldersAbove(draft, folder, file.path, made);
    draft.writer.Add({.phase = Phase::kInit,
                      .kind = StepKind::kWriteFile,
                      .text = {folder + "/" + file.path},
                      .blob = file.content,
                      .number = {file.mode}});
  }
}

// Behind the commands, whose streams lie before the artifacts' pipe.
void AddArtifacts(Draft& draft) {
  const std::uint64_t pipe =
      init::kFirstPassedFd + draft.plan.passed.size() + 2 * (draft.process.commands.size() - 1);
  for (const request::Artifact& artifact : draft.input.request.artifacts) {
    draft.plan.artifacts.push_back(artifact.path);
    draft.writer.Add({.phase = Phase::kAfter,
                      .kind = StepKind::kArtifact,
                      .text = {artifact.path, std::string(request::kProjectFolder)},
                      .number = {kLimits.artifact_bytes, pipe}});
  }
}

}  // namespace plimsoll::plan
