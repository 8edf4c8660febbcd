#include "doctor/check.h"

#include <algorithm>

#include "doctor/judge.h"

namespace plimsoll::doctor {
namespace {

Check JudgeGuest(const Findings& findings) {
  const std::string uid = std::to_string(findings.host.uid);
  const std::string gid = std::to_string(findings.host.gid);
  const std::string who = "on the host the guest is uid " + uid + ", gid " + gid;
  return {.name = "guest",
          .answer = Answer::kYes,
          .found =
              findings.surroundings.is_root
                  ? "root gives its ids up before it clones: " + who + "; --host-user names another"
                  : who + ", as you are; it has no capability",
          .cures = {}};
}

// They survive a user namespace, and an ordinary user cannot drop them (user_namespaces(7)).
Check JudgeGroups(const Findings& findings) {
  const std::vector<std::string>& groups = findings.surroundings.groups;
  if (groups.empty()) return {.name = "groups", .found = "no supplementary groups", .cures = {}};
  return {.name = "groups",
          .answer = Answer::kWeaker,
          .found = "the guest keeps your supplementary groups (" + Join(groups) +
                   "): in a volume it may use what they may use",
          .cures = {"show no volume with files of these groups, or run plimsoll as a user without "
                    "them; as root, plimsoll drops them"}};
}

Check JudgeRun(const Findings& findings) {
  if (!findings.run_error) {
    return {.name = "run", .found = "'true' ran in a sandbox and exited with 0", .cures = {}};
  }
  Check check = {.name = "run", .answer = Answer::kNo, .found = {}, .cures = {}};
  check.found = findings.run_error->Message();
  if (!findings.run_error->hint.empty()) check.cures.push_back(findings.run_error->hint);
  return check;
}

}  // namespace

std::vector<Check> Judge(const Findings& findings) {
  return {JudgeKernel(findings),     JudgeMachine(findings), JudgeUserNamespaces(findings),
          JudgeNamespaces(findings), JudgeProc(findings),    JudgeSeccomp(findings),
          JudgeLandlock(findings),   JudgeMemfd(findings),   JudgeOverlay(findings),
          JudgeCgroup(findings),     JudgeLimits(findings),  JudgeStore(findings),
          JudgeGuest(findings),      JudgeGroups(findings),  JudgeRun(findings)};
}

bool Works(const std::vector<Check>& checks) {
  return std::none_of(checks.begin(), checks.end(),
                      [](const Check& check) { return check.answer == Answer::kNo; });
}

std::string_view AnswerName(Answer answer) {
  switch (answer) {
    case Answer::kYes:
      return "yes";
    case Answer::kWeaker:
      return "weaker";
    case Answer::kNo:
      return "no";
  }
  return "no";
}

std::string Setting(const Findings& findings, const std::string& name) {
  const auto found = findings.settings.find(name);
  return found == findings.settings.end() ? std::string() : found->second;
}

std::string SetSysctl(const std::string& name, std::string_view value) {
  const std::string assignment = name + "=" + std::string(value);
  return "sudo sysctl " + assignment + "\n# to keep it: the line '" + assignment +
         "' in /etc/sysctl.d/plimsoll.conf";
}

std::string FailureText(const Trial& trial) {
  return Error{.kind = ErrorKind::kHost, .what = trial.step, .sys_errno = trial.error}.Message();
}

std::string Join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace plimsoll::doctor
