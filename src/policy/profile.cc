#include "policy/profile.h"

#include <linux/seccomp.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "base/text.h"
#include "json/reader.h"

namespace plimsoll::policy {

namespace {

constexpr std::uint64_t kHighestErrno = 4095;  // what the kernel cuts a filter's errno to
constexpr std::uint64_t kArguments = 6;

Result<std::uint32_t> ReadAction(const json::Value& object, std::string_view action_name,
                                 std::string_view errno_name) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(action_name));
  PLIMSOLL_TRY_ASSIGN(const std::string_view action, value.String());
  PLIMSOLL_TRY_ASSIGN(const auto number, object.Find(errno_name));
  if (action == "SCMP_ACT_ERRNO") {
    if (!number) return Refuse(EPERM);
    PLIMSOLL_TRY_ASSIGN(const std::uint64_t given, number->Uint(kHighestErrno));
    return Refuse(static_cast<int>(given));
  }
  if (action != "SCMP_ACT_ALLOW") {
    return value.Complaint("action " + Quote(action) +
                           ": expected 'SCMP_ACT_ALLOW' or 'SCMP_ACT_ERRNO'");
  }
  if (number) return number->Complaint("an errno for an action that gives none");
  return SECCOMP_RET_ALLOW;
}

struct Operator {
  std::string_view name;
  Comparison comparison;
  bool negated;
};

constexpr std::array kOperators = {
    Operator{"SCMP_CMP_EQ", Comparison::kEqual, false},
    Operator{"SCMP_CMP_NE", Comparison::kEqual, true},
    Operator{"SCMP_CMP_GT", Comparison::kGreater, false},
    Operator{"SCMP_CMP_LE", Comparison::kGreater, true},
    Operator{"SCMP_CMP_GE", Comparison::kGreaterOrEqual, false},
    Operator{"SCMP_CMP_LT", Comparison::kGreaterOrEqual, true},
};

Result<ArgTest> ReadArg(const json::Value& arg) {
  PLIMSOLL_TRY(arg.OnlyMembers({"index", "op", "value", "valueTwo"}));
  PLIMSOLL_TRY_ASSIGN(const json::Value index_value, arg.Member("index"));
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t index, index_value.Uint(kArguments - 1));
  PLIMSOLL_TRY_ASSIGN(const json::Value operator_value, arg.Member("op"));
  PLIMSOLL_TRY_ASSIGN(const std::string_view name, operator_value.String());
  PLIMSOLL_TRY_ASSIGN(const json::Value first_value, arg.Member("value"));
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t first, first_value.Uint());
  std::uint64_t second = 0;
  PLIMSOLL_TRY_ASSIGN(const auto second_value, arg.Find("valueTwo"));
  if (second_value) {
    PLIMSOLL_TRY_ASSIGN(second, second_value->Uint());
  }

  ArgTest test{.index = static_cast<unsigned>(index), .value = first};
  if (name == "SCMP_CMP_MASKED_EQ") {
    if ((second & ~first) != 0)
      return arg.Complaint("never holds: 'valueTwo' has bits that 'value' masks");
    test.mask = first;
    test.value = second;
    return test;
  }
  for (const Operator& known : kOperators) {
    if (known.name != name) continue;
    if (second != 0) return arg.Complaint("'valueTwo' is for 'SCMP_CMP_MASKED_EQ'");
    test.comparison = known.comparison;
    test.negated = known.negated;
    return test;
  }
  return operator_value.Complaint("unknown comparison " + Quote(name));
}

Result<ProfileEntry> ReadEntry(const json::Value& entry) {
  PLIMSOLL_TRY(entry.OnlyMembers({"action", "args", "comment", "errnoRet", "names"}));
  PLIMSOLL_TRY_ASSIGN(const json::Value names_value, entry.Member("names"));
  PLIMSOLL_TRY_ASSIGN(std::vector<std::string> names, names_value.Strings());
  PLIMSOLL_TRY_ASSIGN(const std::uint32_t action, ReadAction(entry, "action", "errnoRet"));
  Rule rule{.tests = {}, .action = action};
  PLIMSOLL_TRY_ASSIGN(const auto args_value, entry.Find("args"));
  if (args_value) {
    PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> args, args_value->Array());
    for (const json::Value& arg : args) {
      PLIMSOLL_TRY_ASSIGN(const ArgTest test, ReadArg(arg));
      rule.tests.push_back(test);
    }
  }
  PLIMSOLL_TRY_ASSIGN(const auto comment, entry.Find("comment"));
  if (comment) PLIMSOLL_TRY(comment->String());
  return ProfileEntry{.names = std::move(names), .rule = std::move(rule)};
}

Result<void> RequireNative(const json::Value& root) {
  PLIMSOLL_TRY_ASSIGN(const json::Value map, root.Member("archMap"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> entries, map.Array());
  bool has_native = false;
  for (const json::Value& entry : entries) {
    PLIMSOLL_TRY(entry.OnlyMembers({"architecture", "subArchitectures"}));
    PLIMSOLL_TRY_ASSIGN(const json::Value value, entry.Member("architecture"));
    PLIMSOLL_TRY_ASSIGN(const std::string_view architecture, value.String());
    has_native = has_native || architecture == "SCMP_ARCH_X86_64";
  }
  if (has_native) return {};
  Error error = map.Complaint("no entry for SCMP_ARCH_X86_64");
  error.kind = ErrorKind::kUnsupported;
  return error;
}

}  // namespace

Result<Profile> ParseProfile(std::string_view text, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document,
                      json::Parse(std::string(text), std::string(name)));
  const json::Value root = document.Root();
  PLIMSOLL_TRY(root.OnlyMembers({"archMap", "defaultAction", "defaultErrnoRet", "syscalls"}));
  PLIMSOLL_TRY(RequireNative(root));
  PLIMSOLL_TRY_ASSIGN(const std::uint32_t default_action,
                      ReadAction(root, "defaultAction", "defaultErrnoRet"));
  Profile profile{.default_action = default_action, .entries = {}};
  PLIMSOLL_TRY_ASSIGN(const json::Value syscalls, root.Member("syscalls"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> entries, syscalls.Array());
  for (const json::Value& value : entries) {
    PLIMSOLL_TRY_ASSIGN(ProfileEntry entry, ReadEntry(value));
    profile.entries.push_back(std::move(entry));
  }
  return profile;
}

namespace {

// What the entries say of one call, before the default is known to stand behind the conditions.
struct CallRules {
  std::string name;
  std::vector<Rule> conditional;
  std::optional<std::uint32_t> unconditional;
};

Result<void> AddRule(const Rule& rule, CallRules& call) {
  if (!rule.tests.empty()) {
    call.conditional.push_back(rule);
    return {};
  }
  if (call.unconditional && *call.unconditional != rule.action) {
    return Error{.kind = ErrorKind::kProtocol,
                 .what = Quote(call.name) + " has two rules without conditions that disagree"};
  }
  call.unconditional = rule.action;
  return {};
}

}  // namespace

Result<Verdicts> ToVerdicts(const Profile& profile, const CallNumber& number_of) {
  std::map<std::uint32_t, CallRules> calls;
  for (const ProfileEntry& entry : profile.entries) {
    for (const std::string& name : entry.names) {
      PLIMSOLL_TRY_ASSIGN(const std::optional<std::uint32_t> number, number_of(name));
      if (!number) continue;
      CallRules& call = calls[*number];
      call.name = name;
      PLIMSOLL_TRY(AddRule(entry.rule, call));
    }
  }
  Verdicts verdicts(Decision{.otherwise = profile.default_action});
  for (auto& [number, call] : calls) {
    const std::uint32_t otherwise = call.unconditional.value_or(profile.default_action);
    for (const Rule& rule : call.conditional) {
      if (rule.action != otherwise) continue;
      return Error{.kind = ErrorKind::kProtocol,
                   .what = Quote(call.name) +
                           " has a rule with conditions that change nothing: its action is the "
                           "same without them"};
    }
    verdicts.Set(number, Decision{.rules = call.conditional, .otherwise = otherwise});
  }
  return verdicts;
}

}  // namespace plimsoll::policy
