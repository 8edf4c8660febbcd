// The flags of `plimsoll exec`, `plimsoll plan` and `plimsoll run`, and the request that they make.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/flags.h"
#include "request/run_request.h"

namespace plimsoll::cli {

// Where the signed record of a run goes.
struct RecordOptions {
  std::string path;          // --record; empty: the store's records.jsonl
  std::string key;           // --key; empty: the user's own
  bool off = false;          // --no-record
  bool environment = false;  // --record-env: the values of variables, and not only their SHA-256
  bool sync = false;         // --sync
};

// What exec, plan and run have in common once they are read.
struct ExecCommand {
  request::RunRequest request;
  RecordOptions record;
  std::string store;  // --store or PLIMSOLL_STORE; empty: the default place
  bool quiet = false;
  bool die_with_parent = false;  // the run ends with the process that started plimsoll
  std::string help;              // not empty: only this text was asked for
};

// Reads the words behind "exec" (or "plan", with `is_plan`). Flags end at the first operand or at
// "--"; what follows is the guest's command, untouched. Reads the variables of `-e NAME`,
// `--env-file`'s files and PLIMSOLL_* from the surroundings.
//
// Errors: kUsage for a flag that does not exist (the nearest one is the hint) or lacks its value;
// kRequest for a value that cannot be read.
Result<ExecCommand> ParseExec(const std::vector<std::string>& words, bool is_plan);

// The value of --host-user. Error: kRequest.
Result<request::HostUser> ReadHostUser(std::string_view text);

// Reads the words behind "run", and the REQUEST.json that they name; "-" is standard input.
//
// Errors: the same; those of request::Parse for the document; kRequest when it cannot be read.
Result<ExecCommand> ParseRun(const std::vector<std::string>& words);

// The flags of RecordOptions, and what two of them say together.
void AddRecordFlags(Flags& flags, RecordOptions& record);
Result<void> CheckRecordFlags(const Flags& flags, const RecordOptions& record);

}  // namespace plimsoll::cli
