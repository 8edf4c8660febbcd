// The flags of a subcommand: CLI11 behind what the subcommands share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace plimsoll::cli {

using Words = std::vector<std::string>;

// Where flags end.
enum class FlagsEnd {
  kAtFirstOperand,  // or behind "--"; what follows is somebody else's command line
  kAtDashes,        // only behind "--": flags may follow operands
};

class Flags {
 public:
  // `program` is "plimsoll exec", `arguments` what the first line of the help says behind it.
  Flags(std::string description, const std::string& program, std::string arguments);

  // From here on only flags are made that `words` or the environment mention: CLI11 spends as long
  // on thirty flags as a run does on all the rest of its preparation. The words must outlive this
  // object. A Parse that fails or asks for help has to be done again with all flags.
  void OnlyMentioned(const Words& words) { mentioning_ = &words; }

  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;
  Flags(Flags&&) = delete;
  Flags& operator=(Flags&&) = delete;
  ~Flags();

  // One value; it can also come from the environment: --pids-limit from PLIMSOLL_PIDS_LIMIT.
  // `names` is "-u,--user" or "--user". Targets must outlive Parse.
  void Value(std::string_view names, std::string& target, const char* text);
  // Any number of times, one value each.
  void Values(std::string_view names, Words& target, const char* text);
  void Switch(std::string_view names, bool& target, const char* text);

  struct Parsed {
    Words operands;
    std::string help;  // not empty: only this text was asked for
  };
  // Fills the targets. Errors: kUsage for a flag that does not exist, with the nearest one as the
  // hint, for a value that is missing or empty, and for a second value where there can be one.
  Result<Parsed> Parse(Words words, FlagsEnd end);

  // A usage error that says where to look.
  Error UsageError(std::string what, std::string hint = {}) const;

 private:
  class App;

  bool IsWanted(std::string_view names) const;
  Result<std::size_t> WordsOfFlag(const std::string& word) const;
  Result<Words> TakeOperands(Words& words) const;
  std::string SuggestFlag(const std::string& word) const;
  Result<bool> ParseFlags(Words words);
  Result<void> RefuseEmptyValues() const;
  Result<void> RefuseRepeated() const;

  std::unique_ptr<App> app_;
  const Words* mentioning_ = nullptr;
  bool has_variables_ = false;  // any PLIMSOLL_* at all in the environment
};

}  // namespace plimsoll::cli
