// Limits and disk: what keeps a guest's share of the machine within bounds.

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/units.h"
#include "doctor/judge.h"

namespace plimsoll::doctor {
namespace {

constexpr std::array<std::string_view, 3> kControllers = {"memory", "pids", "cpu"};
constexpr std::uint64_t kFewestFreeBytes = std::uint64_t{64} << 20U;

std::vector<std::string> Missing(const std::vector<std::string>& controllers) {
  std::vector<std::string> missing;
  for (const std::string_view name : kControllers) {
    if (std::find(controllers.begin(), controllers.end(), name) == controllers.end()) {
      missing.emplace_back(name);
    }
  }
  return missing;
}

// systemd hands controllers to a user's manager, and from there to scopes, only when told so.
std::string DropIn() {
  return "sudo mkdir -p /etc/systemd/system/user@.service.d\n"
         "printf '[Service]\\nDelegate=cpu memory pids\\n' |\n"
         "  sudo tee /etc/systemd/system/user@.service.d/plimsoll.conf\n"
         "sudo systemctl daemon-reload\n"
         "# then log in anew";
}

std::vector<std::string> DelegationCures(const Findings& findings) {
  if (!findings.surroundings.has_systemd) {
    const std::string user = std::to_string(findings.host.uid);
    return {
        "sudo mkdir -p /sys/fs/cgroup/plimsoll/shell\n"
        "echo '+cpu +memory +pids' |\n"
        "  sudo tee /sys/fs/cgroup/cgroup.subtree_control "
        "/sys/fs/cgroup/plimsoll/cgroup.subtree_control\n"
        "sudo chown -R " +
        user +
        " /sys/fs/cgroup/plimsoll\n"
        "echo $$ | sudo tee /sys/fs/cgroup/plimsoll/shell/cgroup.procs\n"
        "# for this shell and what it starts"};
  }
  std::vector<std::string> cures;
  if (!Missing(findings.cgroup.user_controllers).empty()) cures.push_back(DropIn());
  cures.emplace_back("systemd-run --user --scope -p Delegate=yes plimsoll exec -- COMMAND");
  return cures;
}

// What is too little, and what the shell's ulimit(1) calls it.
struct LimitRule {
  std::string_view name;
  std::string_view ulimit;
  std::uint64_t least;  // 0: only unlimited will do
  std::string_view effect;
};
constexpr std::array<LimitRule, 6> kLimitRules = {
    {{"nproc", "-u", 1024, "it counts all processes of this user, and a guest may have 512"},
     {"nofile", "-n", 1024, "a guest has 1024 where it may"},
     {"as", "-v", 0, "node, java and Go reserve more than they use"},
     {"data", "-d", 0, "node, java and Go reserve more than they use"},
     {"fsize", "-f", 0, "the guest's files, and an image's, are cut there"},
     {"cpu", "-t", 0, "every process of the guest ends there"}}};

bool IsTooLow(const LimitRule& rule, const InheritedLimit& limit) {
  const auto& value = rule.name == "nofile" ? limit.hard : limit.soft;
  return value && (rule.least == 0 || *value < rule.least);
}

void AddLowLimit(const LimitRule& rule, const InheritedLimit& limit, Check& check) {
  const bool can_raise = !limit.hard || (rule.least != 0 && *limit.hard >= rule.least);
  const auto& value = rule.name == "nofile" ? limit.hard : limit.soft;
  check.answer = Answer::kWeaker;
  if (!check.found.empty()) check.found += "; ";
  check.found += limit.name + " is limited to " + std::to_string(value.value_or(0)) + ": " +
                 std::string(rule.effect);
  if (can_raise) {
    check.cures.push_back("ulimit " + std::string(rule.ulimit) + " " +
                          (limit.hard ? std::to_string(*limit.hard) : "unlimited"));
  } else {
    check.cures.push_back("raise '" + limit.name +
                          "' in /etc/security/limits.conf, then log in anew");
  }
}

}  // namespace

Check JudgeCgroup(const Findings& findings) {
  const CgroupFindings& cgroup = findings.cgroup;
  Check check = {.name = "cgroup", .answer = Answer::kWeaker, .found = {}, .cures = {}};
  const std::vector<std::string> missing = Missing(cgroup.controllers);
  const std::string effect =
      "; --memory is watched, --pids-limit is an rlimit, --cpus is not enforced";
  if (cgroup.group.empty()) {
    check.found = "this process is in no cgroup v2 group" + effect;
    check.cures = {findings.surroundings.has_systemd
                       ? "boot with the kernel parameter systemd.unified_cgroup_hierarchy=1"
                       : "boot with the kernel parameter cgroup_no_v1=all, and mount cgroup2 on "
                         "/sys/fs/cgroup"};
  } else if (!cgroup.writable) {
    check.found = "group " + Quote(cgroup.group) + " is not delegated to you" + effect;
    check.cures = DelegationCures(findings);
  } else if (missing == std::vector<std::string>{"cpu"}) {
    check.found = "group " + Quote(cgroup.group) +
                  " is delegated without the cpu controller; --cpus is not enforced";
    check.cures = DelegationCures(findings);
  } else if (!missing.empty()) {
    check.found =
        "group " + Quote(cgroup.group) + " is delegated without " + Join(missing) + effect;
    check.cures = DelegationCures(findings);
  } else {
    check.answer = Answer::kYes;
    check.found = "group " + Quote(cgroup.group) + " is delegated with memory, pids and cpu";
  }
  return check;
}

Check JudgeLimits(const Findings& findings) {
  Check check = {.name = "limits", .found = {}, .cures = {}};
  for (const LimitRule& rule : kLimitRules) {
    for (const InheritedLimit& limit : findings.surroundings.limits) {
      if (limit.name == rule.name && IsTooLow(rule, limit)) AddLowLimit(rule, limit, check);
    }
  }
  if (check.found.empty()) check.found = "what the guest inherits leaves it room";
  return check;
}

Check JudgeStore(const Findings& findings) {
  const StoreFindings& store = findings.store;
  Check check = {.name = "store", .found = Quote(store.path), .cures = {}};
  const std::string elsewhere =
      "name a folder on another file system with --store or PLIMSOLL_STORE";
  if (store.write_error) {
    check.answer = store.exists ? Answer::kWeaker : Answer::kNo;
    check.found += (store.exists ? " takes no new images: " : " cannot be made: ") +
                   store.write_error->Message();
    check.cures = {"name a folder of yours with --store or PLIMSOLL_STORE"};
  } else if (store.noexec) {
    check.answer = Answer::kNo;
    check.found += " is on a file system where nothing may be executed (noexec)";
    check.cures = {elsewhere};
  } else if (store.free_bytes < kFewestFreeBytes) {
    check.answer = Answer::kWeaker;
    check.found += " has less than " + FormatBytes(kFewestFreeBytes) + " free";
    check.cures = {"plimsoll image rm NAME", elsewhere};
  } else if (store.link_error != 0) {
    check.answer = Answer::kWeaker;
    check.found += " is on a file system without hard links (" + ErrnoName(store.link_error) +
                   "): every image takes the room of all its layers";
    check.cures = {elsewhere};
  } else {
    check.found += store.exists ? " is there" : " will be made at the first run";
    check.found += ", with hard links and at least " + FormatBytes(kFewestFreeBytes) + " free";
  }
  return check;
}

}  // namespace plimsoll::doctor
