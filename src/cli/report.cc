#include "cli/report.h"

#include <unistd.h>

#include <algorithm>

#include "cli/exit_status.h"
#include "cli/response.h"
#include "sys/file.h"

namespace plimsoll::cli {

void PrintError(const Error& error) {
  PrintNote(error.Message());
  if (!error.hint.empty()) PrintNote("hint: " + error.hint);
}

void PrintNote(std::string_view text) {
  const std::string line = "plimsoll: " + std::string(text) + "\n";
  (void)sys::WriteAll(STDERR_FILENO, line, "standard error");  // nowhere else to complain
}

bool WantsJson(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

int Fail(const Error& error, bool json, int status) {
  PrintError(error);
  if (json) (void)PrintAnswer(RefusalResponse(error));  // the status says that it failed
  return status;
}

bool PrintAnswer(std::string_view text) {
  return sys::WriteAll(STDOUT_FILENO, text, "standard output").has_value();
}

}  // namespace plimsoll::cli
