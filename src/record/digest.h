// The digests of a request, a result and a record: what a signature stands for.
//
// A value is its length as 8 bytes, big-endian, and its bytes. A digest is the SHA-256, in
// lower-case hexadecimal, of the domain's value and then of each field's name and content as
// values, in a fixed order; nothing is ever left out. Integers are decimal, booleans "true" and
// "false", outputs raw bytes, and a group that repeats comes behind its count. plimsoll-record(5)
// has the tables.
//
// Structures are views: who fills them in keeps what they point to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::record {

// What software may answer a request: any (empty mode), one identity ("exact") or a set
// ("approved").
struct SoftwareRule {
  std::string mode = {};
  std::vector<std::string> identities = {};

  bool Allows(std::string_view identity) const;
  // Empty, "exact:IDENTITY" or "approved:sha256:HEX" over the identities, each once, sorted by
  // bytes, with one NUL between.
  std::string Id() const;
};

struct FileFields {
  std::string_view path = {};
  std::string_view content = {};
};

// Domain plimsoll.run-request.v2, kind "project".
struct RequestFields {
  std::string_view minimum_isolation = {};
  std::uint64_t timeout_ms = 0;
  SoftwareRule software = {};
  std::string grant_profile = {};  // names, joined with ","
  std::vector<FileFields> files = {};
  std::vector<std::string> steps = {};
  std::vector<std::string> artifacts = {};
};

enum class Outcome { kCompleted = 1, kSetupFailed = 2, kTimedOut = 3, kProtocolError = 4 };

struct StepFields {
  std::string_view command = {};
  std::int64_t exit_code = 0;
  bool timed_out = false;
  std::string_view out = {};
  std::string_view err = {};
  bool out_truncated = false;
  bool err_truncated = false;
};

// Domain plimsoll.run-result.v1, kind "project".
struct ResultFields {
  Outcome outcome = Outcome::kSetupFailed;
  std::string_view outcome_detail = {};
  bool artifacts_truncated = false;
  std::vector<StepFields> steps = {};
  std::vector<FileFields> artifacts = {};
};

// Domain plimsoll.run-record.v2.
struct RecordFields {
  std::string request_sha256 = {};
  std::string result_sha256 = {};
  std::string provider = {};
  std::string isolation = {};
  std::string environment = {};
  std::string policy = {};
  std::string software_identity = {};
  std::string software_rule_id = {};
  std::uint64_t started_unix_ms = 0;
  std::uint64_t ended_unix_ms = 0;
  std::string session = {};  // empty, 0 and empty for a run by itself, which all of ours are
  std::uint64_t sequence = 0;
  std::string previous_sha256 = {};

  bool operator==(const RecordFields&) const = default;
};

std::string RequestDigest(const RequestFields& request);
std::string ResultDigest(const ResultFields& result);
std::string RecordDigest(const RecordFields& record);

}  // namespace plimsoll::record
