// The signed statement: an in-toto Statement (version 1) whose one subject is a run's record, and
// whose predicate says what was run, behind which wall, and which line of a bundle that is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "record/digest.h"

namespace plimsoll::record {

inline constexpr std::string_view kStatementMediaType = "application/vnd.in-toto+json";
inline constexpr std::string_view kStatementType = "https://in-toto.io/Statement/v1";
inline constexpr std::string_view kPredicateType =
    "https://plimsollmark.github.io/plimsoll/run-record/v1";

// What ties a statement to its line of a bundle. The digests are of the canonical bytes of members
// of that line.
struct LineLink {
  std::uint64_t index = 1;  // from 1
  std::string previous_line_sha256 =
      {};  // of the whole line before, without its newline; empty: none
  std::string request_line_sha256 = {};
  std::string response_line_sha256 = {};
  std::string plan_line_sha256 = {};

  bool operator==(const LineLink&) const = default;
};

struct Statement {
  RecordFields record = {};
  std::string confinement = {};  // a JSON object; empty where others have written the statement
  std::string calls = {};        // the same
  std::optional<LineLink> link = {};  // absent there, too
};

// The statement as JSON, one line. `confinement` and `calls` must be JSON.
std::string WriteStatement(const Statement& statement);

// Reads one strictly: the types above, one subject with one digest, version 2, the record's digest
// right at both places, nothing of a session, no member that is not known. `confinement` and
// `calls` stay as they stand. Errors: kProtocol, with the JSON pointer.
Result<Statement> ReadStatement(std::string payload);

}  // namespace plimsoll::record
