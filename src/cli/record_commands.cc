#include "cli/record_commands.h"

#include <optional>
#include <utility>

#include "base/text.h"
#include "cli/paths.h"
#include "cli/record_text.h"
#include "cli/report.h"
#include "cli/subcommands.h"
#include "json/writer.h"
#include "record/key_file.h"
#include "record/line_reader.h"
#include "record/verify.h"

namespace plimsoll::cli {
namespace {

constexpr int kDoesNotVerify = 1;
constexpr int kUnreadable = 2;

// Which bundle, and whose signature counts.
struct Where {
  std::string store;
  std::string key;
  bool json = false;

  void AddTo(Flags& flags) {
    flags.Value("--pub", key, "the public key; default $XDG_CONFIG_HOME/plimsoll/harness.pub");
    flags.Value("--store", store, "whose records.jsonl is meant when no BUNDLE is named");
    flags.Switch("--json", json, "one JSON document");
  }
};

Result<std::string> BundlePath(const Flags& flags, const Words& operands, const Where& where) {
  if (operands.size() > 1) return flags.UsageError("expected one bundle");
  if (!operands.empty()) return operands[0];
  PLIMSOLL_TRY_ASSIGN(const std::string store, StorePath(where.store));
  return store + "/records.jsonl";
}

Result<crypto::PublicKey> KeyOf(const Where& where) {
  if (!where.key.empty()) return record::ReadPublicKey(where.key);
  PLIMSOLL_TRY_ASSIGN(const std::string store, StorePath(where.store));
  std::optional<Error> first;
  for (const std::string& own : UserKeyPaths(store)) {
    auto key = record::ReadPublicKey(record::PublicPath(own));
    if (key) return *key;
    if (!first) first = std::move(key).error();
  }
  first->hint = "--pub FILE names the public key of whoever has signed";
  return *std::move(first);
}

Result<Answer> Keygen(const Words& words) {
  Flags flags("Makes a pair of keys that records are signed and verified with.", "plimsoll keygen",
              "[FLAGS] [FILE]");
  bool json = false;
  flags.Switch("--json", json, "one JSON document");
  PLIMSOLL_TRY_ASSIGN(const auto parsed, flags.Parse(words, FlagsEnd::kAtDashes));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  if (parsed.operands.size() > 1) return flags.UsageError("expected one file");
  std::string path = parsed.operands.empty() ? std::string() : parsed.operands[0];
  if (path.empty()) {
    PLIMSOLL_TRY_ASSIGN(const std::string store, StorePath({}));
    path = UserKeyPaths(store).front();
  }
  PLIMSOLL_TRY_ASSIGN(const bool is_new, record::MakeKeyPair(path));
  if (!is_new) {
    return Error{.kind = ErrorKind::kRequest,
                 .what = Quote(path) + " is there already",
                 .hint = "a key that has signed is needed to sign on; name another file"};
  }
  PLIMSOLL_TRY_ASSIGN(const crypto::PublicKey key, record::ReadPublicKey(record::PublicPath(path)));
  return Answer{.text = json ? KeyJson(path, key) : KeyText(path, key)};
}

struct VerifyCommand {
  Where where;
  record::Expectations expected;
  std::string bundle;
  std::string help;
};

Result<VerifyCommand> ParseVerify(const Words& words) {
  VerifyCommand command;
  Flags flags("Checks a bundle: every signature, every digest, every line's place.",
              "plimsoll verify", "[FLAGS] [BUNDLE]");
  command.where.AddTo(flags);
  std::string lines;
  flags.Value("--expect-lines", lines, "fail unless the bundle has so many lines");
  flags.Value("--expect-head", command.expected.head, "fail unless the last line has this SHA-256");
  PLIMSOLL_TRY_ASSIGN(auto parsed, flags.Parse(words, FlagsEnd::kAtDashes));
  command.help = std::move(parsed.help);
  if (!command.help.empty()) return command;
  if (!lines.empty()) {
    command.expected.lines = ParseUint(lines);
    if (!command.expected.lines) {
      return flags.UsageError("--expect-lines " + Quote(lines) + ": expected a number");
    }
  }
  PLIMSOLL_TRY_ASSIGN(command.bundle, BundlePath(flags, parsed.operands, command.where));
  return command;
}

// What does not verify is an answer; all other errors are failures.
Result<Answer> Verify(const Words& words) {
  PLIMSOLL_TRY_ASSIGN(const VerifyCommand command, ParseVerify(words));
  if (!command.help.empty()) return Answer{.text = command.help};
  PLIMSOLL_TRY_ASSIGN(const crypto::PublicKey key, KeyOf(command.where));
  const auto verified = record::VerifyBundle(command.bundle, key, command.expected);
  if (!verified && verified.error().kind != ErrorKind::kProtocol) return verified.error();
  if (!verified) {
    PrintError(Error(verified.error()).In(Quote(command.bundle) + " does not verify"));
    return Answer{.text = command.where.json ? NotVerifiedJson(verified.error()) : std::string(),
                  .status = kDoesNotVerify};
  }
  return Answer{.text = command.where.json ? VerifiedJson(*verified, key)
                                           : VerifiedText(*verified, key)};
}

struct ShowCommand {
  Where where;
  std::optional<std::uint64_t> line;
  bool plan = false;
  std::string bundle;
  std::string help;
};

Result<ShowCommand> ParseShow(const Words& words) {
  ShowCommand command;
  Flags flags("Shows the record of a run: what ran, where, behind which wall, and who signed.",
              "plimsoll show", "[FLAGS] [BUNDLE]");
  command.where.AddTo(flags);
  std::string line;
  flags.Value("--line", line, "which line, from 1; default the last one");
  flags.Switch("--plan", command.plan, "the plan that was carried out, step by step");
  PLIMSOLL_TRY_ASSIGN(auto parsed, flags.Parse(words, FlagsEnd::kAtDashes));
  command.help = std::move(parsed.help);
  if (!command.help.empty()) return command;
  if (!line.empty()) {
    command.line = ParseUint(line);
    if (!command.line || *command.line == 0) {
      return flags.UsageError("--line " + Quote(line) + ": expected a number from 1");
    }
  }
  PLIMSOLL_TRY_ASSIGN(command.bundle, BundlePath(flags, parsed.operands, command.where));
  return command;
}

// A line that is wrong is shown to nobody: what it says may be made up.
Result<Answer> Show(const Words& words) {
  PLIMSOLL_TRY_ASSIGN(const ShowCommand command, ParseShow(words));
  if (!command.help.empty()) return Answer{.text = command.help};
  PLIMSOLL_TRY_ASSIGN(const crypto::PublicKey key, KeyOf(command.where));
  PLIMSOLL_TRY_ASSIGN(const record::NumberedLine line,
                      record::FindLine(command.bundle, command.line));
  const auto checked = record::CheckLine(line.text, key);
  if (!checked) {
    PrintError(Error(checked.error())
                   .In("line " + std::to_string(line.number))
                   .In(Quote(command.bundle) + " does not verify"));
    return Answer{.text = command.where.json ? NotVerifiedJson(checked.error()) : std::string(),
                  .status = kDoesNotVerify};
  }
  if (command.where.json) return Answer{.text = line.text + "\n"};
  PLIMSOLL_TRY_ASSIGN(std::string text,
                      command.plan ? PlanOfLine(line.text) : RecordText(line.text, *checked, key));
  return Answer{.text = std::move(text)};
}

int Run(Result<Answer> (*command)(const Words&), const Words& words, int failure) {
  const auto answer = command(words);
  if (!answer) return Fail(answer.error(), WantsJson(words), failure);
  return PrintAnswer(answer->text) ? answer->status : kRunnerFailed;
}

}  // namespace

int RunKeygen(const Words& words) {
  return Run(&Keygen, words, kRunnerFailed);
}

int RunVerify(const Words& words) {
  return Run(&Verify, words, kUnreadable);
}

int RunShow(const Words& words) {
  return Run(&Show, words, kUnreadable);
}

}  // namespace plimsoll::cli
