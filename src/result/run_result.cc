#include "result/run_result.h"

#include <algorithm>

namespace plimsoll::result {

Outcome OutcomeOf(const RunResult& result) {
  if (result.ran == Ran::kNo || result.cause == Cause::kSetupFailed) return Outcome::kSetupFailed;
  if (result.cause == Cause::kTimedOut) return Outcome::kTimedOut;
  // Somebody killed the sandbox, so it did not say how its command ended.
  if (result.cause == Cause::kSignalled && result.error) return Outcome::kProtocolError;
  // A program that is not there is the status of a step like others when a step has run before it.
  return Outcome::kCompleted;
}

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompleted:
      return "completed";
    case Outcome::kSetupFailed:
      return "setup_failed";
    case Outcome::kTimedOut:
      return "timed_out";
    case Outcome::kProtocolError:
      return "protocol_error";
  }
  return "protocol_error";
}

std::string OutcomeDetail(const RunResult& result) {
  return result.error ? result.error->Message() : result.detail;
}

bool ArtifactsTruncated(const RunResult& result) {
  return std::any_of(result.missing_artifacts.begin(), result.missing_artifacts.end(),
                     [](const MissingArtifact& missing) { return missing.too_large; });
}

}  // namespace plimsoll::result
