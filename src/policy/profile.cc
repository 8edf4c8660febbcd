#include "policy/profile.h"

#include <linux/seccomp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "json/reader.h"

namespace plimsoll::policy {

namespace {

constexpr std::uint64_t kHighestErrno = 4095;  // what the kernel cuts a filter's errno to
constexpr std::uint64_t kArguments = 6;
constexpr std::string_view kNative = "SCMP_ARCH_X86_64";

struct ActionName {
  std::string_view name;
  std::uint32_t action;
  bool takes_errno;
};

// NOTIFY is left out: somebody would have to answer.
constexpr std::array kActions = {
    ActionName{"SCMP_ACT_ALLOW", SECCOMP_RET_ALLOW, false},
    ActionName{"SCMP_ACT_ERRNO", SECCOMP_RET_ERRNO, true},
    ActionName{"SCMP_ACT_KILL", SECCOMP_RET_KILL_THREAD, false},
    ActionName{"SCMP_ACT_KILL_THREAD", SECCOMP_RET_KILL_THREAD, false},
    ActionName{"SCMP_ACT_KILL_PROCESS", SECCOMP_RET_KILL_PROCESS, false},
    ActionName{"SCMP_ACT_TRAP", SECCOMP_RET_TRAP, false},
    ActionName{"SCMP_ACT_TRACE", SECCOMP_RET_TRACE, true},
    ActionName{"SCMP_ACT_LOG", SECCOMP_RET_LOG, false},
};

// The errno of an action, by number or by the name that engines write beside it for people; EPERM
// unless given.
Result<std::uint64_t> ReadErrno(const json::Value& object, std::string_view number_name,
                                std::string_view text_name) {
  std::optional<std::uint64_t> result;
  PLIMSOLL_TRY_ASSIGN(const auto text, object.Find(text_name));
  if (text) {
    PLIMSOLL_TRY_ASSIGN(const std::string_view name, text->String());
    if (const auto named = ErrnoNumber(name)) result = static_cast<std::uint64_t>(*named);
    if (!result && !name.empty()) return text->Complaint("unknown errno " + Quote(name));
  }
  PLIMSOLL_TRY_ASSIGN(const auto number, object.Find(number_name));
  if (!number) return result.value_or(EPERM);
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t given, number->Uint(kHighestErrno));
  if (result && *result != given) {
    return number->Complaint("the number is not that of '" + std::string(text_name) + "'");
  }
  return given;
}

// The names of the members that hold an action and its errno.
struct ActionMembers {
  std::string_view action;
  std::string_view errno_number;
  std::string_view errno_name;
};

Result<std::uint32_t> ReadAction(const json::Value& object, const ActionMembers& members) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member(members.action));
  PLIMSOLL_TRY_ASSIGN(const std::string_view name, value.String());
  for (const ActionName& known : kActions) {
    if (known.name != name) continue;
    PLIMSOLL_TRY_ASSIGN(const auto number, object.Find(members.errno_number));
    if (!known.takes_errno && number) {
      return number->Complaint("an errno for an action that gives none");
    }
    if (!known.takes_errno) return known.action;
    PLIMSOLL_TRY_ASSIGN(const std::uint64_t data,
                        ReadErrno(object, members.errno_number, members.errno_name));
    return known.action | static_cast<std::uint32_t>(data);
  }
  Error error = value.Complaint("unknown action " + Quote(name));
  if (name == "SCMP_ACT_NOTIFY") {
    error = value.Complaint("'SCMP_ACT_NOTIFY' needs an agent that answers");
    error.kind = ErrorKind::kUnsupported;
  }
  return error;
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

// Null and absent lists are empty.
Result<std::vector<std::string>> OptionalStrings(const json::Value& object, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const auto value, object.Find(name));
  return value ? value->Strings() : Result<std::vector<std::string>>(std::vector<std::string>());
}

// "5.19" as a number to compare.
Result<std::uint64_t> ReadKernel(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  const auto parts = Split(text, '.');
  const auto major = ParseUint(parts[0], UINT32_MAX);
  const auto minor = parts.size() > 1 ? ParseUint(parts[1], UINT32_MAX) : std::nullopt;
  if (parts.size() != 2 || !major || !minor) {
    return value.Complaint(Quote(text) + ": expected a kernel's version such as '5.19'");
  }
  return *major << 32U | *minor;
}

// What an entry's "includes" or "excludes" says of this platform.
struct Condition {
  bool has_arches = false;
  bool is_our_arch = false;
  bool has_capabilities = false;  // of which the guest has none
  bool has_kernel = false;
  bool is_kernel_new_enough = false;
};

Result<Condition> ReadCondition(const json::Value& entry, std::string_view name,
                                const Platform& platform) {
  Condition condition;
  PLIMSOLL_TRY_ASSIGN(const auto object, entry.Find(name));
  if (!object) return condition;
  PLIMSOLL_TRY(object->OnlyMembers({"arches", "caps", "minKernel"}));
  PLIMSOLL_TRY_ASSIGN(const auto arches, OptionalStrings(*object, "arches"));
  PLIMSOLL_TRY_ASSIGN(const auto capabilities, OptionalStrings(*object, "caps"));
  PLIMSOLL_TRY_ASSIGN(const auto kernel, object->Find("minKernel"));
  condition.has_arches = !arches.empty();
  condition.is_our_arch = std::find(arches.begin(), arches.end(), "amd64") != arches.end();
  condition.has_capabilities = !capabilities.empty();
  if (kernel) {
    PLIMSOLL_TRY_ASSIGN(const std::uint64_t least, ReadKernel(*kernel));
    condition.has_kernel = true;
    condition.is_kernel_new_enough =
        (std::uint64_t{platform.kernel_major} << 32U | platform.kernel_minor) >= least;
  }
  return condition;
}

Result<bool> IsForUs(const json::Value& entry, const Platform& platform) {
  PLIMSOLL_TRY_ASSIGN(const Condition includes, ReadCondition(entry, "includes", platform));
  PLIMSOLL_TRY_ASSIGN(const Condition excludes, ReadCondition(entry, "excludes", platform));
  if (excludes.is_our_arch || excludes.is_kernel_new_enough) return false;
  return (!includes.has_arches || includes.is_our_arch) && !includes.has_capabilities &&
         (!includes.has_kernel || includes.is_kernel_new_enough);
}

// "names", or the one "name" of older files.
Result<std::vector<std::string>> ReadNames(const json::Value& entry) {
  PLIMSOLL_TRY_ASSIGN(const auto name, entry.Find("name"));
  PLIMSOLL_TRY_ASSIGN(std::vector<std::string> names, OptionalStrings(entry, "names"));
  if (!name) {
    PLIMSOLL_TRY(entry.Member("names"));
    return names;
  }
  PLIMSOLL_TRY_ASSIGN(const std::string_view one, name->String());
  if (!one.empty() && !names.empty()) return name->Complaint("both 'name' and 'names'");
  if (!one.empty()) names.emplace_back(one);
  return names;
}

Error NotNative(const json::Value& value) {
  Error error = value.Complaint("no entry for SCMP_ARCH_X86_64");
  error.kind = ErrorKind::kUnsupported;
  return error;
}

// The runtime specification's list and the engines' map; with neither the machine's own is meant.
Result<void> RequireNative(const json::Value& root) {
  PLIMSOLL_TRY_ASSIGN(const auto names, OptionalStrings(root, "architectures"));
  PLIMSOLL_TRY_ASSIGN(const auto map, root.Find("archMap"));
  std::vector<json::Value> entries;
  if (map) {
    PLIMSOLL_TRY_ASSIGN(entries, map->Array());
  }
  if (!names.empty()) {
    PLIMSOLL_TRY_ASSIGN(const json::Value list, root.Member("architectures"));
    if (!entries.empty()) return list.Complaint("both 'architectures' and 'archMap'");
    const bool has_native = std::find(names.begin(), names.end(), kNative) != names.end();
    return has_native ? Result<void>() : NotNative(list);
  }
  if (entries.empty()) return {};
  bool has_native = false;
  for (const json::Value& entry : entries) {
    PLIMSOLL_TRY(entry.OnlyMembers({"architecture", "subArchitectures"}));
    PLIMSOLL_TRY_ASSIGN(const json::Value value, entry.Member("architecture"));
    PLIMSOLL_TRY_ASSIGN(const std::string_view architecture, value.String());
    PLIMSOLL_TRY(OptionalStrings(entry, "subArchitectures"));
    has_native = has_native || architecture == kNative;
  }
  return has_native ? Result<void>() : NotNative(*map);
}

// A listener would have to be told of calls, and nobody is there.
Result<void> RefuseListener(const json::Value& root) {
  for (const std::string_view name : {"listenerPath", "listenerMetadata"}) {
    PLIMSOLL_TRY_ASSIGN(const auto value, root.Find(name));
    if (!value) continue;
    PLIMSOLL_TRY_ASSIGN(const std::string_view text, value->String());
    if (text.empty()) continue;
    Error error = value->Complaint("a listener is not supported");
    error.kind = ErrorKind::kUnsupported;
    return error;
  }
  return {};
}

}  // namespace

Result<std::vector<std::vector<ArgTest>>> ParseArgs(const json::Value& entry) {
  PLIMSOLL_TRY_ASSIGN(const auto value, entry.Find("args"));
  std::vector<ArgTest> tests;
  if (value) {
    PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> args, value->Array());
    for (const json::Value& arg : args) {
      PLIMSOLL_TRY_ASSIGN(const ArgTest test, ReadArg(arg));
      tests.push_back(test);
    }
  }
  std::set<unsigned> indexes;
  for (const ArgTest& test : tests)
    indexes.insert(test.index);
  if (indexes.size() == tests.size()) return std::vector<std::vector<ArgTest>>{tests};
  std::vector<std::vector<ArgTest>> alternatives;
  alternatives.reserve(tests.size());
  for (const ArgTest& test : tests)
    alternatives.push_back({test});
  return alternatives;
}

Result<std::vector<ProfileEntry>> ParseEntry(const json::Value& entry, const Platform& platform) {
  PLIMSOLL_TRY(entry.OnlyMembers(
      {"action", "args", "comment", "errno", "errnoRet", "excludes", "includes", "name", "names"}));
  PLIMSOLL_TRY_ASSIGN(const std::vector<std::string> names, ReadNames(entry));
  PLIMSOLL_TRY_ASSIGN(const std::uint32_t action,
                      ReadAction(entry, {"action", "errnoRet", "errno"}));
  PLIMSOLL_TRY_ASSIGN(auto alternatives, ParseArgs(entry));
  PLIMSOLL_TRY_ASSIGN(const auto comment, entry.Find("comment"));
  std::string text;
  if (comment) {
    PLIMSOLL_TRY_ASSIGN(text, comment->String());
  }
  PLIMSOLL_TRY_ASSIGN(const bool is_for_us, IsForUs(entry, platform));
  std::vector<ProfileEntry> entries;
  if (!is_for_us) return entries;
  for (std::vector<ArgTest>& tests : alternatives) {
    entries.push_back(
        {.names = names, .rule = {.tests = std::move(tests), .action = action}, .comment = text});
  }
  return entries;
}

Result<Profile> ParseProfile(std::string_view text, std::string_view name,
                             const Platform& platform) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document,
                      json::Parse(std::string(text), std::string(name)));
  const json::Value root = document.Root();
  PLIMSOLL_TRY(root.OnlyMembers({"archMap", "architectures", "defaultAction", "defaultErrno",
                                 "defaultErrnoRet", "flags", "listenerMetadata", "listenerPath",
                                 "syscalls"}));
  PLIMSOLL_TRY(RequireNative(root));
  PLIMSOLL_TRY(RefuseListener(root));
  PLIMSOLL_TRY(OptionalStrings(root, "flags"));
  PLIMSOLL_TRY_ASSIGN(const std::uint32_t default_action,
                      ReadAction(root, {"defaultAction", "defaultErrnoRet", "defaultErrno"}));
  Profile profile{.default_action = default_action, .entries = {}};
  PLIMSOLL_TRY_ASSIGN(const json::Value syscalls, root.Member("syscalls"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> values, syscalls.Array());
  for (const json::Value& value : values) {
    PLIMSOLL_TRY_ASSIGN(std::vector<ProfileEntry> entries, ParseEntry(value, platform));
    std::move(entries.begin(), entries.end(), std::back_inserter(profile.entries));
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

// The kernel's order: of several filters' answers the lowest counts, as a signed number.
std::uint32_t Stricter(std::uint32_t one, std::uint32_t other) {
  return static_cast<std::int32_t>(one) <= static_cast<std::int32_t>(other) ? one : other;
}

Result<void> AddRule(const Rule& rule, Reading reading, CallRules& call) {
  if (!rule.tests.empty()) {
    call.conditional.push_back(rule);
    return {};
  }
  if (call.unconditional && *call.unconditional != rule.action && reading == Reading::kStrict) {
    return Error{.kind = ErrorKind::kProtocol,
                 .what = Quote(call.name) + " has two rules without conditions that disagree"};
  }
  call.unconditional = Stricter(call.unconditional.value_or(rule.action), rule.action);
  return {};
}

Result<void> RefuseEmptyConditions(const CallRules& call, std::uint32_t otherwise) {
  for (const Rule& rule : call.conditional) {
    if (rule.action != otherwise) continue;
    return Error{.kind = ErrorKind::kProtocol,
                 .what = Quote(call.name) +
                         " has a rule with conditions that change nothing: its action is the same "
                         "without them"};
  }
  return {};
}

}  // namespace

Result<Verdicts> ToVerdicts(const Profile& profile, const CallNumber& number_of, Reading reading) {
  std::map<std::uint32_t, CallRules> calls;
  for (const ProfileEntry& entry : profile.entries) {
    for (const std::string& name : entry.names) {
      PLIMSOLL_TRY_ASSIGN(const std::optional<std::uint32_t> number, number_of(name));
      if (!number) continue;
      CallRules& call = calls[*number];
      call.name = name;
      PLIMSOLL_TRY(AddRule(entry.rule, reading, call));
    }
  }
  Verdicts verdicts(Decision{.otherwise = profile.default_action});
  for (auto& [number, call] : calls) {
    const std::uint32_t otherwise = call.unconditional.value_or(profile.default_action);
    if (reading == Reading::kStrict) PLIMSOLL_TRY(RefuseEmptyConditions(call, otherwise));
    verdicts.Set(number, Decision{.rules = call.conditional, .otherwise = otherwise});
  }
  return verdicts;
}

}  // namespace plimsoll::policy
