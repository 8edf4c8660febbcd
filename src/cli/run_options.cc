// The words behind `plimsoll run`.

#include <unistd.h>

#include "cli/exec_options.h"
#include "cli/flags.h"
#include "request/parse.h"
#include "sys/file.h"

namespace plimsoll::cli {
namespace {

Result<std::string> ReadDocument(const std::string& path) {
  const std::size_t most = request::RequestLimits{}.document_bytes;
  auto text =
      path == "-" ? sys::ReadAll(STDIN_FILENO, most, "standard input") : sys::ReadFile(path, most);
  if (text) return text;
  Error error = std::move(text).error();
  if (error.kind == ErrorKind::kHost) error.kind = ErrorKind::kRequest;
  return error;
}

}  // namespace

Result<ExecCommand> ParseRun(const Words& words) {
  ExecCommand command;
  std::string host_user;
  Flags flags("Runs the steps of a request in a sandbox and answers with one JSON document.",
              "plimsoll run", "[FLAGS] REQUEST.json");
  flags.Value("--store", command.store, "where images are kept; default $XDG_DATA_HOME/plimsoll");
  flags.Value("--host-user", host_user,
              "only for root: UID[:GID] of the guest on the host; default 65534");
  AddRecordFlags(flags, command.record);
  flags.Switch("--die-with-parent", command.die_with_parent,
               "end the run when the process that started plimsoll ends");
  flags.Switch("-q,--quiet", command.quiet, "errors only");
  PLIMSOLL_TRY_ASSIGN(Flags::Parsed parsed, flags.Parse(words, FlagsEnd::kAtDashes));
  command.help = std::move(parsed.help);
  if (!command.help.empty()) return command;
  if (parsed.operands.size() != 1) {
    return flags.UsageError("expected one REQUEST.json, or '-' for standard input");
  }
  PLIMSOLL_TRY(CheckRecordFlags(flags, command.record));
  const std::string& path = parsed.operands[0];
  PLIMSOLL_TRY_ASSIGN(std::string text, ReadDocument(path));
  PLIMSOLL_TRY_ASSIGN(command.request,
                      request::Parse(std::move(text), path == "-" ? "standard input" : path));
  if (host_user.empty()) return command;
  PLIMSOLL_TRY_ASSIGN(command.request.host_user, ReadHostUser(host_user));
  return command;
}

}  // namespace plimsoll::cli
