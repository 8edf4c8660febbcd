#include "policy/describe.h"

#include <linux/seccomp.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "json/writer.h"

namespace plimsoll::policy {
namespace {

constexpr std::uint64_t kFirstInHex = 256;

std::string OperandText(std::uint64_t value) {
  return Number(value, value < kFirstInHex ? 10 : 16);
}

// The comparison as people write it and as profiles name it.
struct OperatorText {
  std::string_view sign;
  std::string_view name;
};

OperatorText OperatorOf(const ArgTest& test) {
  switch (test.comparison) {
    case Comparison::kEqual:
      return test.negated ? OperatorText{" != ", "SCMP_CMP_NE"}
                          : OperatorText{" == ", "SCMP_CMP_EQ"};
    case Comparison::kGreater:
      return test.negated ? OperatorText{" <= ", "SCMP_CMP_LE"}
                          : OperatorText{" > ", "SCMP_CMP_GT"};
    case Comparison::kGreaterOrEqual:
      return test.negated ? OperatorText{" < ", "SCMP_CMP_LT"}
                          : OperatorText{" >= ", "SCMP_CMP_GE"};
  }
  return {};
}

bool HasErrno(std::uint32_t action) {
  const std::uint32_t kind = action & SECCOMP_RET_ACTION_FULL;
  return kind == SECCOMP_RET_ERRNO || kind == SECCOMP_RET_TRACE;
}

void WriteTest(const ArgTest& test, json::Writer& writer) {
  const bool is_masked = test.mask != UINT64_MAX;
  writer.BeginObject().Member("index", test.index);
  writer.Member("op", is_masked ? "SCMP_CMP_MASKED_EQ" : OperatorOf(test).name);
  writer.Member("value", is_masked ? test.mask : test.value);
  if (is_masked) writer.Member("valueTwo", test.value);
  writer.EndObject();
}

void WriteEntry(const ProfileEntry& entry, json::Writer& writer) {
  writer.BeginObject().Member("action", ActionName(entry.rule.action));
  if (!entry.rule.tests.empty()) {
    writer.Key("args").BeginArray();
    for (const ArgTest& test : entry.rule.tests)
      WriteTest(test, writer);
    writer.EndArray();
  }
  if (!entry.comment.empty()) writer.Member("comment", entry.comment);
  if (HasErrno(entry.rule.action)) {
    writer.Member("errnoRet", entry.rule.action & SECCOMP_RET_DATA);
  }
  writer.Key("names").Strings(entry.names).EndObject();
}

// Sub-architectures say nothing to us, but an engine that is given the file needs them.
void WriteArchitectures(json::Writer& writer) {
  struct Map {
    std::string_view architecture;
    std::vector<std::string> sub;
  };
  const std::array<Map, 2> maps = {{{"SCMP_ARCH_X86_64", {"SCMP_ARCH_X86", "SCMP_ARCH_X32"}},
                                    {"SCMP_ARCH_AARCH64", {"SCMP_ARCH_ARM"}}}};
  writer.Key("archMap").BeginArray();
  for (const Map& map : maps) {
    writer.BeginObject().Member("architecture", map.architecture);
    writer.Key("subArchitectures").Strings(map.sub).EndObject();
  }
  writer.EndArray();
}

}  // namespace

std::string CanonicalText(const Profile& profile) {
  json::Writer writer(json::Writer::Style::kIndented);
  writer.BeginObject();
  WriteArchitectures(writer);
  writer.Member("defaultAction", ActionName(profile.default_action));
  if (HasErrno(profile.default_action)) {
    writer.Member("defaultErrnoRet", profile.default_action & SECCOMP_RET_DATA);
  }
  writer.Key("syscalls").BeginArray();
  for (const ProfileEntry& entry : profile.entries)
    WriteEntry(entry, writer);
  writer.EndArray().EndObject();
  return writer.Take() + "\n";
}

std::string DescribeTests(const std::vector<ArgTest>& tests) {
  std::string out;
  for (const ArgTest& test : tests) {
    if (!out.empty()) out += ", ";
    out += "arg" + std::to_string(test.index);
    if (test.mask != UINT64_MAX) out += " & " + Number(test.mask, 16);
    out += std::string(OperatorOf(test).sign) + OperandText(test.value);
  }
  return out;
}

std::string_view ActionName(std::uint32_t action) {
  switch (action & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
      return "SCMP_ACT_ALLOW";
    case SECCOMP_RET_ERRNO:
      return "SCMP_ACT_ERRNO";
    case SECCOMP_RET_KILL_PROCESS:
      return "SCMP_ACT_KILL_PROCESS";
    case SECCOMP_RET_TRAP:
      return "SCMP_ACT_TRAP";
    case SECCOMP_RET_TRACE:
      return "SCMP_ACT_TRACE";
    case SECCOMP_RET_LOG:
      return "SCMP_ACT_LOG";
    default:
      return "SCMP_ACT_KILL_THREAD";
  }
}

std::optional<int> ErrnoOf(std::uint32_t action) {
  if ((action & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO) return std::nullopt;
  return static_cast<int>(action & SECCOMP_RET_DATA);
}

std::string DescribeAction(std::uint32_t action) {
  switch (action & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
      return "allowed";
    case SECCOMP_RET_ERRNO:
      return "refused, " + DescribeErrno(static_cast<int>(action & SECCOMP_RET_DATA));
    case SECCOMP_RET_KILL_PROCESS:
      return "ends the process";
    case SECCOMP_RET_TRAP:
      return "refused, by the signal SIGSYS";
    case SECCOMP_RET_TRACE:
      return "refused, " + DescribeErrno(ENOSYS) + ", since nobody traces the guest";
    case SECCOMP_RET_LOG:
      return "allowed, and noted in the kernel's log";
    default:
      return "ends the thread";
  }
}

std::vector<CallRule> RulesOf(const Profile& profile) {
  std::vector<CallRule> rules;
  for (const ProfileEntry& entry : profile.entries) {
    for (const std::string& name : entry.names) {
      rules.push_back({.call = name,
                       .action = entry.rule.action,
                       .tests = DescribeTests(entry.rule.tests),
                       .comment = entry.comment});
    }
  }
  return rules;
}

RuleChanges Compare(const Profile& before, const Profile& after) {
  const auto key = [](const CallRule& rule) {
    return std::tie(rule.call, rule.tests, rule.action);
  };
  const auto less = [&](const CallRule& a, const CallRule& b) { return key(a) < key(b); };
  std::vector<CallRule> old_rules = RulesOf(before);
  std::vector<CallRule> new_rules = RulesOf(after);
  std::stable_sort(old_rules.begin(), old_rules.end(), less);
  std::stable_sort(new_rules.begin(), new_rules.end(), less);
  RuleChanges changes;
  std::set_difference(new_rules.begin(), new_rules.end(), old_rules.begin(), old_rules.end(),
                      std::back_inserter(changes.added), less);
  std::set_difference(old_rules.begin(), old_rules.end(), new_rules.begin(), new_rules.end(),
                      std::back_inserter(changes.removed), less);
  changes.unchanged = old_rules.size() - changes.removed.size();
  changes.default_differs = before.default_action != after.default_action;
  return changes;
}

}  // namespace plimsoll::policy
