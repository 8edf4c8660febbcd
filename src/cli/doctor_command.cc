#include "cli/doctor_command.h"

#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "cli/exit_status.h"
#include "cli/flags.h"
#include "cli/paths.h"
#include "cli/report.h"
#include "doctor/check.h"
#include "doctor/examine.h"
#include "doctor/report.h"

namespace plimsoll::cli {
namespace {

constexpr int kRunDoesNotWork = 1;

struct DoctorCommand {
  std::string store;
  bool json = false;
  std::string help;  // set when help was asked for
};

Result<DoctorCommand> ParseDoctor(Words words) {
  DoctorCommand command;
  Flags flags("Says what this host can do, what it refuses, and the narrowest cure.",
              "plimsoll doctor", "[FLAGS]");
  flags.Switch("--json", command.json, "one JSON document instead of text");
  flags.Value("--store", command.store, "where images are kept; default $XDG_DATA_HOME/plimsoll");
  PLIMSOLL_TRY_ASSIGN(Flags::Parsed parsed, flags.Parse(std::move(words), FlagsEnd::kAtDashes));
  command.help = std::move(parsed.help);
  if (!command.help.empty() || parsed.operands.empty()) return command;
  return flags.UsageError("doctor takes no operand, but was given " +
                          Quote(parsed.operands.front()));
}

bool WantsColour() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this process has one thread
  const char* refused = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) == 1 && (refused == nullptr || refused[0] == '\0');
}

Result<int> Examined(const DoctorCommand& command) {
  PLIMSOLL_TRY_ASSIGN(const std::string store, StorePath(command.store));
  std::vector<std::string> guarded;
  if (std::string config = ConfigPath(); !config.empty()) guarded.push_back(std::move(config));
  PLIMSOLL_TRY_ASSIGN(const doctor::Examination examination, doctor::Examine(store, guarded));
  if (examination.worker_status) return *examination.worker_status;
  const std::vector<doctor::Check> checks = doctor::Judge(examination.findings);
  const std::string answer =
      command.json ? doctor::ReportJson(checks) : doctor::ReportText(checks, WantsColour());
  if (!PrintAnswer(answer)) return kRunnerFailed;
  return doctor::Works(checks) ? 0 : kRunDoesNotWork;
}

}  // namespace

int RunDoctorCommand(const std::vector<std::string>& words) {
  auto command = ParseDoctor(words);
  if (command && !command->help.empty()) {
    return PrintAnswer(command->help) ? 0 : kRunnerFailed;
  }
  auto status = command ? Examined(*command) : Result<int>(std::move(command).error());
  return status ? *status : Fail(status.error(), WantsJson(words));
}

}  // namespace plimsoll::cli
