// The signed record of a run, as the command line asks for it: flags and defaults, what is said of
// it, and what the response says.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "cli/exec_options.h"
#include "record/recorder.h"

namespace plimsoll::cli {

// The answer of a response's "record" member: where the line is, or why there is none.
struct RecordAnswer {
  std::string json;
  bool failed = false;
};

// Opens what recording needs, before the run: --record, --key and --sync, or the store's
// records.jsonl and the user's own key. Nothing with --no-record. Errors: those of
// Recorder::Prepare; kRequest where no configuration directory is known.
Result<std::optional<record::Recorder>> PrepareRecorder(const RecordOptions& options,
                                                        const std::string& store,
                                                        const std::string& version,
                                                        const std::string& kernel_release);

// Appends the draft; says on standard error what went wrong, that a key was made, or that a torn
// line was found.
RecordAnswer Record(record::Recorder& recorder, const record::Draft& draft);

// The same where there is nothing to append, or nobody who could.
RecordAnswer NotRecorded(const Error& error);

// The response with its "record" member: `record` is JSON.
std::string WithRecord(std::string response, const std::string& record);

}  // namespace plimsoll::cli
