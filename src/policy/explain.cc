#include "policy/explain.h"

#include <linux/seccomp.h>

#include <algorithm>

#include "policy/calls.h"
#include "policy/describe.h"
#include "policy/guard.h"
#include "policy/interpret.h"

namespace plimsoll::policy {
namespace {

// The entry of the profile that gave this rule.
const ProfileEntry* EntryOf(const Profile& profile, std::string_view call, const Rule& rule) {
  for (const ProfileEntry& entry : profile.entries) {
    if (entry.rule == rule &&
        std::find(entry.names.begin(), entry.names.end(), call) != entry.names.end()) {
      return &entry;
    }
  }
  return nullptr;
}

std::string CommentOf(const ProfileEntry* entry) {
  return entry != nullptr ? entry->comment : std::string();
}

void ExplainByProfile(const Source& source, const Verdicts& verdicts, const seccomp_data& data,
                      Explanation& explanation) {
  const Rule* rule = DecidingRule(verdicts, data);
  const Rule plain = {.tests = {}, .action = explanation.action};
  const ProfileEntry* entry =
      EntryOf(source.profile, explanation.call, rule != nullptr ? *rule : plain);
  explanation.decided_by = entry != nullptr ? DecidedBy::kRule : DecidedBy::kDefault;
  explanation.tests = rule != nullptr ? DescribeTests(rule->tests) : std::string();
  explanation.reason = CommentOf(entry);
}

}  // namespace

Result<Explanation> Explain(const Policy& policy, const Source& source, std::uint32_t number,
                            const std::array<std::uint64_t, 6>& arguments) {
  Explanation explanation{
      .number = number, .call = std::string(NameOfCall(number)), .arguments = arguments};
  const seccomp_data data = Call(number, arguments);
  const auto answer = Interpret(policy.program, data);
  PLIMSOLL_TRY_ASSIGN(const Verdicts verdicts, VerdictsOf(source));
  const Verdicts guard = Guard();
  const std::uint32_t first = Decide(guard, data);
  const std::uint32_t decided = first != SECCOMP_RET_ALLOW ? first : Decide(verdicts, data);
  if (!answer || answer->action != decided) {
    return Error{
        .kind = ErrorKind::kHost,
        .what = "the compiled program and the rules disagree about call " + std::to_string(number),
        .hint = "this is a mistake in plimsoll; please report it"};
  }
  explanation.action = decided;
  if (first == SECCOMP_RET_ALLOW) {
    ExplainByProfile(source, verdicts, data, explanation);
    return explanation;
  }
  const Rule* rule = DecidingRule(guard, data);
  explanation.decided_by = DecidedBy::kGuard;
  explanation.tests = rule != nullptr ? DescribeTests(rule->tests) : std::string();
  explanation.reason = std::string(GuardReason(number));
  return explanation;
}

Result<std::vector<Possibility>> Possibilities(const Source& source, std::uint32_t number) {
  PLIMSOLL_TRY_ASSIGN(const Verdicts verdicts, VerdictsOf(source));
  const std::string reason(GuardReason(number));
  const Verdicts guard_verdicts = Guard();
  const Decision& guard = guard_verdicts.At(number);
  std::vector<Possibility> found;
  for (const Rule& rule : guard.rules) {
    found.push_back({DescribeTests(rule.tests), rule.action, DecidedBy::kGuard, reason});
  }
  if (guard.otherwise != SECCOMP_RET_ALLOW) {
    found.push_back({{}, guard.otherwise, DecidedBy::kGuard, reason});
    return found;
  }
  const std::string_view call = NameOfCall(number);
  const Decision& profile = verdicts.At(number);
  for (const Rule& rule : profile.rules) {
    found.push_back({DescribeTests(rule.tests), rule.action, DecidedBy::kRule,
                     CommentOf(EntryOf(source.profile, call, rule))});
  }
  const ProfileEntry* plain =
      EntryOf(source.profile, call, {.tests = {}, .action = profile.otherwise});
  found.push_back({{},
                   profile.otherwise,
                   plain != nullptr ? DecidedBy::kRule : DecidedBy::kDefault,
                   CommentOf(plain)});
  return found;
}

}  // namespace plimsoll::policy
