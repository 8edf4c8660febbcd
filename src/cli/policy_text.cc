#include "cli/policy_text.h"

#include <algorithm>

#include "base/text.h"
#include "json/writer.h"

namespace plimsoll::cli {
namespace {

std::string_view DecidedByName(policy::DecidedBy decided_by) {
  switch (decided_by) {
    case policy::DecidedBy::kGuard:
      return "guard";
    case policy::DecidedBy::kRule:
      return "profile";
    case policy::DecidedBy::kDefault:
      break;
  }
  return "default";
}

void WriteAction(std::uint32_t action, json::Writer& writer) {
  writer.Member("action", policy::ActionName(action));
  writer.Key("errno");
  if (const auto number = policy::ErrnoOf(action)) {
    writer.Int(*number);
  } else {
    writer.Null();
  }
}

void WriteRules(const std::vector<policy::CallRule>& rules, json::Writer& writer) {
  writer.BeginArray();
  for (const policy::CallRule& rule : rules) {
    writer.BeginObject();
    writer.Member("syscall", rule.call);
    WriteAction(rule.action, writer);
    writer.Member("args", rule.tests);
    writer.Member("comment", rule.comment);
    writer.EndObject();
  }
  writer.EndArray();
}

std::string RuleLine(char sign, const policy::CallRule& rule) {
  std::string line = std::string(1, sign) + " " + rule.call;
  if (!rule.tests.empty()) line += " when " + rule.tests;
  line += ": " + policy::DescribeAction(rule.action) + "\n";
  if (!rule.comment.empty()) line += "    " + rule.comment + "\n";
  return line;
}

// "the guard, before any profile: keys are not divided ..."
std::string Decider(policy::DecidedBy decided_by, const std::string& tests,
                    const std::string& reason, const std::string& profile) {
  std::string line;
  if (decided_by == policy::DecidedBy::kGuard) {
    line = "the guard, which stands before every profile";
  } else if (decided_by == policy::DecidedBy::kRule) {
    line = "a rule of the profile " + Quote(profile);
  } else {
    line = "the default action of the profile " + Quote(profile) + ": no rule holds";
  }
  if (!tests.empty()) line += ", when " + tests;
  if (!reason.empty()) line += "\n    " + reason;
  return line;
}

}  // namespace

std::string DigestText(const policy::Policy& policy) {
  std::string differences;
  for (const std::string& name : policy.differences)
    differences += (differences.empty() ? "" : ", ") + name;
  return "profile          " + policy.profile + "\n" + "differences      " +
         (differences.empty() ? "none" : differences) + "\n" + "policy           " + policy.digest +
         "\n" + "program          " + policy.program_digest + "\n" + "  guard          " +
         policy.guard_digest + "\n" + "  profile alone  " + policy.profile_program_digest + "\n" +
         "instructions     " + std::to_string(policy.program.size()) + "\n";
}

std::string DigestJson(const policy::Policy& policy) {
  json::Writer writer;
  writer.BeginObject();
  writer.Member("profile", policy.profile);
  writer.Key("differences").Strings(policy.differences);
  writer.Member("policy", policy.digest);
  writer.Member("program", policy.program_digest);
  writer.Member("guard_program", policy.guard_digest);
  writer.Member("profile_program", policy.profile_program_digest);
  writer.Member("instructions", policy.program.size());
  writer.EndObject();
  return writer.Take() + "\n";
}

std::string ChangesText(const policy::RuleChanges& changes) {
  std::string text;
  for (const policy::CallRule& rule : changes.removed)
    text += RuleLine('-', rule);
  for (const policy::CallRule& rule : changes.added)
    text += RuleLine('+', rule);
  if (changes.default_differs) text += "! the default actions differ\n";
  return text + std::to_string(changes.added.size()) + " added, " +
         std::to_string(changes.removed.size()) + " removed, " + std::to_string(changes.unchanged) +
         " unchanged\n";
}

std::string ChangesJson(const policy::RuleChanges& changes, const std::string& before_digest,
                        const std::string& after_digest) {
  json::Writer writer;
  writer.BeginObject();
  writer.Member("default", before_digest);
  writer.Member("variant", after_digest);
  writer.Key("added");
  WriteRules(changes.added, writer);
  writer.Key("removed");
  WriteRules(changes.removed, writer);
  writer.Member("unchanged", changes.unchanged);
  writer.Member("default_action_differs", changes.default_differs);
  writer.EndObject();
  return writer.Take() + "\n";
}

std::string FindingsText(const std::string& name, const std::vector<policy::Finding>& findings) {
  std::string text;
  bool is_wrong = false;
  for (const policy::Finding& finding : findings) {
    const bool wrong = finding.severity == policy::Severity::kWrong;
    is_wrong |= wrong;
    text += std::string(wrong ? "wrong: " : "note: ") + finding.text + "\n";
  }
  return text + Quote(name) + (is_wrong ? " must not be used\n" : " is good\n");
}

std::string FindingsJson(const std::string& name, const std::vector<policy::Finding>& findings) {
  json::Writer writer;
  const bool is_wrong = std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.severity == policy::Severity::kWrong;
  });
  writer.BeginObject().Member("profile", name).Member("good", !is_wrong);
  writer.Key("findings").BeginArray();
  for (const policy::Finding& finding : findings) {
    writer.BeginObject();
    writer.Member("severity", finding.severity == policy::Severity::kWrong ? "wrong" : "note");
    writer.Member("text", finding.text);
    writer.EndObject();
  }
  writer.EndArray().EndObject();
  return writer.Take() + "\n";
}

std::string ExplanationText(const policy::Explanation& explanation, const std::string& profile) {
  std::string call =
      explanation.call.empty() ? "call " + std::to_string(explanation.number) : explanation.call;
  call += "(";
  for (std::size_t i = 0; i < explanation.arguments.size(); ++i)
    call += (i == 0 ? "" : ", ") + std::to_string(explanation.arguments[i]);
  return call + "): " + policy::DescribeAction(explanation.action) + "\n  by " +
         Decider(explanation.decided_by, explanation.tests, explanation.reason, profile) + "\n";
}

std::string ExplanationJson(const policy::Explanation& explanation) {
  json::Writer writer;
  writer.BeginObject();
  writer.Member("syscall", explanation.call);
  writer.Member("number", explanation.number);
  writer.Key("arguments").Uints(explanation.arguments);
  WriteAction(explanation.action, writer);
  writer.Member("decided_by", DecidedByName(explanation.decided_by));
  writer.Member("args", explanation.tests);
  writer.Member("reason", explanation.reason);
  writer.EndObject();
  return writer.Take() + "\n";
}

std::string PossibilitiesText(const std::string& call,
                              const std::vector<policy::Possibility>& possibilities,
                              const std::string& profile) {
  if (possibilities.size() == 1) {
    const policy::Possibility& only = possibilities[0];
    return call + ": " + policy::DescribeAction(only.action) + "\n  by " +
           Decider(only.decided_by, {}, only.reason, profile) + "\n";
  }
  std::string text = call + ": depends on its arguments; the first that holds decides\n";
  for (const policy::Possibility& one : possibilities) {
    text += "  " + (one.tests.empty() ? "otherwise" : "when " + one.tests) + ": " +
            policy::DescribeAction(one.action) + "\n    by " +
            Decider(one.decided_by, {}, one.reason, profile) + "\n";
  }
  return text;
}

std::string PossibilitiesJson(const std::string& call, std::uint32_t number,
                              const std::vector<policy::Possibility>& possibilities) {
  json::Writer writer;
  writer.BeginObject().Member("syscall", call).Member("number", number);
  writer.Key("possibilities").BeginArray();
  for (const policy::Possibility& one : possibilities) {
    writer.BeginObject();
    writer.Member("args", one.tests);
    WriteAction(one.action, writer);
    writer.Member("decided_by", DecidedByName(one.decided_by));
    writer.Member("reason", one.reason);
    writer.EndObject();
  }
  writer.EndArray().EndObject();
  return writer.Take() + "\n";
}

}  // namespace plimsoll::cli
