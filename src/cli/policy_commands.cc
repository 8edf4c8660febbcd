#include "cli/policy_commands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "cli/flags.h"
#include "cli/policy_text.h"
#include "cli/report.h"
#include "cli/subcommands.h"
#include "policy/calls.h"
#include "sys/host.h"

namespace plimsoll::cli {
namespace {

constexpr int kDiffers = 1;
constexpr int kUnreadable = 2;
constexpr std::string_view kUsage =
    "Usage: plimsoll policy COMMAND [FLAGS] ...\n"
    "\n"
    "The system call policies: what a guest may ask of the kernel.\n"
    "\n"
    "  show [PROFILE]                print a profile as it is used\n"
    "  derive DIFFERENCE...          print the default with differences in it\n"
    "  diff PROFILE PROFILE          compare two, rule by rule; 1 if they differ\n"
    "  digest [PROFILE]              print the digests of a policy and of its program\n"
    "  check PROFILE                 look for what no guest may have; 1 if there is any\n"
    "  explain SYSCALL [ARG...]      say what the compiled program answers, and why\n"
    "\n"
    "PROFILE is 'default' or a file in the container engines' form; DIFFERENCE is 'rw-volume',\n"
    "'sdk' or a file. 'plimsoll policy COMMAND -h' lists the flags.\n";

// What every subcommand can be told: --json, and --with where a profile is named.
class PolicyFlags {
 public:
  PolicyFlags(std::string description, const std::string& name, std::string usage)
      : flags_(std::move(description), "plimsoll policy " + name, std::move(usage)) {
    flags_.Switch("--json", json, "one JSON document");
  }

  void AddWith() {
    flags_.Values("--with", with, "put a difference on the profile: rw-volume, sdk or a file");
  }

  cli::Flags& Flags() { return flags_; }
  Error UsageError(std::string what, std::string hint = {}) const {
    return flags_.UsageError(std::move(what), std::move(hint));
  }

  bool json = false;
  Words with;

 private:
  cli::Flags flags_;
};

policy::Platform ThisPlatform() {
  const sys::HostFacts host = sys::ProbeHost();
  return {.kernel_major = host.kernel_major, .kernel_minor = host.kernel_minor};
}

Result<policy::Source> Read(const std::string& name, const Words& differences) {
  return policy::ReadSource(name, differences, ThisPlatform());
}

// The one operand, or "default".
Result<std::string> ProfileName(const PolicyFlags& command, const Words& operands) {
  if (operands.size() > 1) return command.UsageError("expected one profile");
  return operands.empty() ? std::string("default") : operands[0];
}

// The profile in canonical form, which is JSON with or without the flag; what was passed over is
// said on standard error.
Answer Shown(const policy::Source& source) {
  for (const std::string& name : source.unknown_calls) {
    if (!source.is_ours) PrintNote("x86-64 has no system call " + Quote(name) + ": passed over");
  }
  return {.text = policy::CanonicalText(source.profile)};
}

Result<Answer> Show(const Words& words) {
  PolicyFlags command("Prints a profile as it is used, in canonical form.", "show",
                      "[PROFILE] [FLAGS]");
  command.AddWith();
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Flags().Parse(words, FlagsEnd::kAtDashes));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  PLIMSOLL_TRY_ASSIGN(const std::string name, ProfileName(command, parsed.operands));
  PLIMSOLL_TRY_ASSIGN(const policy::Source source, Read(name, command.with));
  return Shown(source);
}

Result<Answer> Derive(const Words& words) {
  PolicyFlags command("Prints a profile with differences in it.", "derive",
                      "DIFFERENCE... [FLAGS]");
  std::string base = "default";
  command.Flags().Value("--profile", base, "the profile to start from; default: default");
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Flags().Parse(words, FlagsEnd::kAtDashes));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  if (parsed.operands.empty()) return command.UsageError("expected a difference");
  PLIMSOLL_TRY_ASSIGN(const policy::Source source, Read(base, parsed.operands));
  return Shown(source);
}

Result<Answer> Diff(const Words& words) {
  PolicyFlags command("Compares two profiles, rule by rule.", "diff", "PROFILE PROFILE [FLAGS]");
  Words expected;
  command.AddWith();
  command.Flags().Values("--expect", expected,
                         "a difference that is no news: rw-volume, sdk or a file");
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Flags().Parse(words, FlagsEnd::kAtDashes));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  const Words& names = parsed.operands;
  if (names.empty() || names.size() > 2) return command.UsageError("expected two profiles");
  PLIMSOLL_TRY_ASSIGN(const policy::Source before, Read(names[0], {}));
  PLIMSOLL_TRY_ASSIGN(const policy::Source after, Read(names.back(), command.with));
  PLIMSOLL_TRY_ASSIGN(const policy::Source wanted, Read(names[0], expected));
  const policy::RuleChanges changes = policy::Compare(before.profile, after.profile);
  const bool is_expected = policy::Compare(wanted.profile, after.profile).AreNone();
  return Answer{.text = command.json ? ChangesJson(changes, before.digest, after.digest)
                                     : ChangesText(changes),
                .status = is_expected ? 0 : kDiffers};
}

Result<Answer> Digest(const Words& words) {
  PolicyFlags command("Prints the digests of a policy.", "digest", "[PROFILE] [FLAGS]");
  command.AddWith();
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Flags().Parse(words, FlagsEnd::kAtDashes));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  PLIMSOLL_TRY_ASSIGN(const std::string name, ProfileName(command, parsed.operands));
  PLIMSOLL_TRY_ASSIGN(const policy::Source source, Read(name, command.with));
  PLIMSOLL_TRY_ASSIGN(const policy::Policy policy, policy::Compile(source));
  return Answer{.text = command.json ? DigestJson(policy) : DigestText(policy)};
}

Result<Answer> CheckProfile(const Words& words) {
  PolicyFlags command("Looks for what no guest may have.", "check", "PROFILE [FLAGS]");
  bool is_foreign = false;
  command.AddWith();
  command.Flags().Switch("--foreign", is_foreign,
                         "a container engine's profile: what the guard refuses anyway is a note");
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Flags().Parse(words, FlagsEnd::kAtDashes));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  PLIMSOLL_TRY_ASSIGN(const std::string name, ProfileName(command, parsed.operands));
  PLIMSOLL_TRY_ASSIGN(const policy::Source source, Read(name, command.with));
  const std::vector<policy::Finding> findings = policy::Check(source, is_foreign);
  const bool is_wrong = std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.severity == policy::Severity::kWrong;
  });
  return Answer{.text = command.json ? FindingsJson(name, findings) : FindingsText(name, findings),
                .status = is_wrong ? kDiffers : 0};
}

// Decimal, 0x hexadecimal or 0 octal, with a minus sign in front where somebody thinks of -1.
std::optional<std::uint64_t> ParseArgument(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.starts_with('0')) {
    base = 8;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return is_negative ? 0 - value : value;
}

Result<std::uint32_t> ParseCall(const PolicyFlags& command, const std::string& word) {
  if (const auto number = ParseUint(word, UINT32_MAX)) return static_cast<std::uint32_t>(*number);
  if (const auto number = policy::NumberOfCall(word)) return *number;
  return command.UsageError("x86-64 has no system call " + Quote(word),
                            DidYouMean(word, policy::CallNames()));
}

Result<Answer> ExplainCall(const Words& words) {
  PolicyFlags command("Says what the compiled program answers to a system call, and why.",
                      "explain", "[FLAGS] SYSCALL [ARG...]");
  std::string name = "default";
  command.AddWith();
  command.Flags().Value("--profile", name, "the profile to ask; default: default");
  PLIMSOLL_TRY_ASSIGN(const auto parsed, command.Flags().Parse(words, FlagsEnd::kAtFirstOperand));
  if (!parsed.help.empty()) return Answer{.text = parsed.help};
  const Words& operands = parsed.operands;
  if (operands.empty()) return command.UsageError("expected a system call");
  PLIMSOLL_TRY_ASSIGN(const std::uint32_t number, ParseCall(command, operands[0]));
  std::array<std::uint64_t, 6> arguments = {};
  if (operands.size() > arguments.size() + 1) {
    return command.UsageError("a system call has at most 6 arguments");
  }
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const auto value = ParseArgument(operands[i]);
    if (!value) return command.UsageError("argument " + Quote(operands[i]) + " is no number");
    arguments[i - 1] = *value;
  }
  PLIMSOLL_TRY_ASSIGN(const policy::Source source, Read(name, command.with));
  if (operands.size() == 1) {
    PLIMSOLL_TRY_ASSIGN(const auto possibilities, policy::Possibilities(source, number));
    const std::string call = policy::NameOfCall(number).empty()
                                 ? "call " + std::to_string(number)
                                 : std::string(policy::NameOfCall(number));
    return Answer{.text = command.json ? PossibilitiesJson(call, number, possibilities)
                                       : PossibilitiesText(call, possibilities, name)};
  }
  PLIMSOLL_TRY_ASSIGN(const policy::Policy policy, policy::Compile(source));
  PLIMSOLL_TRY_ASSIGN(const policy::Explanation explanation,
                      policy::Explain(policy, source, number, arguments));
  return Answer{.text = command.json ? ExplanationJson(explanation)
                                     : ExplanationText(explanation, name)};
}

constexpr std::array<Subcommand, 6> kSubcommands = {
    {{.name = "show", .run = &Show},
     {.name = "derive", .run = &Derive},
     {.name = "diff", .run = &Diff, .failure = kUnreadable},
     {.name = "digest", .run = &Digest},
     {.name = "check", .run = &CheckProfile, .failure = kUnreadable},
     {.name = "explain", .run = &ExplainCall}}};

}  // namespace

int RunPolicyCommand(const Words& words) {
  return RunSubcommand({.name = "policy", .usage = kUsage, .subcommands = kSubcommands}, words);
}

}  // namespace plimsoll::cli
