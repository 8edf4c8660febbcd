#include "policy/difference.h"

#include <linux/seccomp.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "json/reader.h"

namespace plimsoll::policy {
namespace {

Result<std::string> ReadComment(const json::Value& object) {
  PLIMSOLL_TRY_ASSIGN(const json::Value value, object.Member("comment"));
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  return std::string(text);
}

Result<Restriction> ReadRestriction(const json::Value& value) {
  PLIMSOLL_TRY(value.OnlyMembers({"args", "comment", "names"}));
  Restriction restriction;
  PLIMSOLL_TRY_ASSIGN(const json::Value names, value.Member("names"));
  PLIMSOLL_TRY_ASSIGN(restriction.names, names.Strings());
  PLIMSOLL_TRY_ASSIGN(restriction.alternatives, ParseArgs(value));
  PLIMSOLL_TRY_ASSIGN(restriction.comment, ReadComment(value));
  if (restriction.alternatives.front().empty()) {
    return value.Complaint("a restriction without 'args' restricts nothing");
  }
  return restriction;
}

Result<std::vector<ProfileEntry>> ReadAllowed(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(std::vector<ProfileEntry> entries, ParseEntry(value, {}));
  PLIMSOLL_TRY(ReadComment(value));
  for (const ProfileEntry& entry : entries) {
    if (entry.rule.action != SECCOMP_RET_ALLOW) {
      return value.Complaint("expected the action 'SCMP_ACT_ALLOW'");
    }
  }
  return entries;
}

Result<std::vector<ProfileEntry>> ReadRefused(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(std::vector<ProfileEntry> entries, ParseEntry(value, {}));
  PLIMSOLL_TRY(ReadComment(value));
  for (const ProfileEntry& entry : entries) {
    if ((entry.rule.action & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO) {
      return value.Complaint("expected the action 'SCMP_ACT_ERRNO'");
    }
    if (!entry.rule.tests.empty()) return value.Complaint("a refusal has no 'args'");
  }
  return entries;
}

using ReadEntries = Result<std::vector<ProfileEntry>>(const json::Value& value);

// The entries of all items of the list.
Result<std::vector<ProfileEntry>> ReadList(const json::Value& list, ReadEntries* read) {
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> values, list.Array());
  std::vector<ProfileEntry> all;
  for (const json::Value& value : values) {
    PLIMSOLL_TRY_ASSIGN(std::vector<ProfileEntry> entries, read(value));
    std::move(entries.begin(), entries.end(), std::back_inserter(all));
  }
  return all;
}

bool LetsPass(const Rule& rule) {
  return rule.action == SECCOMP_RET_ALLOW || rule.action == SECCOMP_RET_LOG;
}

// Takes `name` out of the entries that let it pass; the rule of each such entry that counts. Beside
// a refusal without conditions, a permission without any has no effect (Reading::kLenient), and
// with a restriction's conditions it would get one.
std::vector<Rule> TakeAllowed(const std::string& name, Profile& profile) {
  std::vector<Rule> taken;
  bool is_refused = false;
  for (ProfileEntry& entry : profile.entries) {
    const auto place = std::find(entry.names.begin(), entry.names.end(), name);
    if (place == entry.names.end()) continue;
    if (LetsPass(entry.rule)) {
      taken.push_back(entry.rule);
      entry.names.erase(place);
    } else {
      is_refused = is_refused || entry.rule.tests.empty();
    }
  }
  std::erase_if(profile.entries, [](const ProfileEntry& entry) { return entry.names.empty(); });
  if (is_refused) std::erase_if(taken, [](const Rule& rule) { return rule.tests.empty(); });
  return taken;
}

bool IsPlainEquality(const ArgTest& test) {
  return test.comparison == Comparison::kEqual && !test.negated;
}

enum class Joined { kYes, kNeverHolds, kImpossible };

// Adds `test` to `tests`, all of which must hold.
Joined Join(const ArgTest& test, std::vector<ArgTest>& tests) {
  const auto same = std::find_if(tests.begin(), tests.end(),
                                 [&](const ArgTest& other) { return other.index == test.index; });
  if (same == tests.end()) {
    tests.push_back(test);
    return Joined::kYes;
  }
  if (*same == test) return Joined::kYes;
  if (!IsPlainEquality(*same) || !IsPlainEquality(test)) return Joined::kImpossible;
  if (((same->value ^ test.value) & same->mask & test.mask) != 0) return Joined::kNeverHolds;
  same->mask |= test.mask;
  same->value |= test.value;
  return Joined::kYes;
}

// Every call that is restricted, once, in the order of the file.
std::vector<std::string> RestrictedCalls(const Difference& difference) {
  std::vector<std::string> calls;
  for (const Restriction& restriction : difference.restrictions) {
    for (const std::string& name : restriction.names) {
      if (std::find(calls.begin(), calls.end(), name) == calls.end()) calls.push_back(name);
    }
  }
  return calls;
}

// Appends what is left of a rule that lets `name` pass when one of the restriction's alternatives
// must hold, too.
Result<void> AppendRestricted(const Restriction& restriction, const std::string& name,
                              const Rule& before, Profile& profile) {
  for (const std::vector<ArgTest>& alternative : restriction.alternatives) {
    Rule both = before;
    bool can_hold = true;
    for (const ArgTest& test : alternative) {
      const Joined joined = Join(test, both.tests);
      if (joined == Joined::kImpossible) {
        return Error{.kind = ErrorKind::kUnsupported,
                     .what = "the profile and a difference both have conditions on arg" +
                             std::to_string(test.index) + " of " + name +
                             " that cannot be one test"};
      }
      can_hold = can_hold && joined == Joined::kYes;
    }
    if (!can_hold) continue;
    profile.entries.push_back(
        {.names = {name}, .rule = std::move(both), .comment = restriction.comment});
  }
  return {};
}

Result<void> Restrict(const Difference& difference, const std::string& name, Profile& profile) {
  for (const Rule& before : TakeAllowed(name, profile)) {
    for (const Restriction& restriction : difference.restrictions) {
      const auto& names = restriction.names;
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      PLIMSOLL_TRY(AppendRestricted(restriction, name, before, profile));
    }
  }
  return {};
}

// Puts the entry's answer in the place of every rule that lets one of its calls pass.
void RefuseCalls(const ProfileEntry& refused, Profile& profile) {
  for (const std::string& name : refused.names) {
    if (TakeAllowed(name, profile).empty()) continue;
    profile.entries.push_back({.names = {name}, .rule = refused.rule, .comment = refused.comment});
  }
}

}  // namespace

Result<Difference> ParseDifference(std::string_view text, std::string_view name) {
  PLIMSOLL_TRY_ASSIGN(const json::Document document,
                      json::Parse(std::string(text), std::string(name)));
  const json::Value root = document.Root();
  PLIMSOLL_TRY(root.OnlyMembers({"allow", "comment", "refuse", "restrict"}));
  Difference difference;
  PLIMSOLL_TRY_ASSIGN(difference.comment, ReadComment(root));
  PLIMSOLL_TRY_ASSIGN(const json::Value restricted, root.Member("restrict"));
  PLIMSOLL_TRY_ASSIGN(const std::vector<json::Value> restrictions, restricted.Array());
  for (const json::Value& value : restrictions) {
    PLIMSOLL_TRY_ASSIGN(Restriction restriction, ReadRestriction(value));
    difference.restrictions.push_back(std::move(restriction));
  }
  PLIMSOLL_TRY_ASSIGN(const json::Value allow, root.Member("allow"));
  PLIMSOLL_TRY_ASSIGN(difference.allowed, ReadList(allow, ReadAllowed));
  PLIMSOLL_TRY_ASSIGN(const auto refuse, root.Find("refuse"));
  if (refuse) {
    PLIMSOLL_TRY_ASSIGN(difference.refused, ReadList(*refuse, ReadRefused));
  }
  return difference;
}

Result<Profile> Apply(const Difference& difference, Profile profile) {
  for (const std::string& name : RestrictedCalls(difference))
    PLIMSOLL_TRY(Restrict(difference, name, profile));
  for (const ProfileEntry& entry : difference.refused)
    RefuseCalls(entry, profile);
  profile.entries.insert(profile.entries.end(), difference.allowed.begin(),
                         difference.allowed.end());
  return profile;
}

}  // namespace plimsoll::policy
