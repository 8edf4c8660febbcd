// The single checks: shared by the files of this folder, and by nobody else.
#pragma once

#include <string>
#include <string_view>

#include "doctor/check.h"

namespace plimsoll::doctor {

// judge_namespaces.cc
Check JudgeUserNamespaces(const Findings& findings);
Check JudgeNamespaces(const Findings& findings);
Check JudgeProc(const Findings& findings);
Check JudgeOverlay(const Findings& findings);

// judge_kernel.cc
Check JudgeKernel(const Findings& findings);
Check JudgeMachine(const Findings& findings);
Check JudgeLandlock(const Findings& findings);
Check JudgeSeccomp(const Findings& findings);
Check JudgeMemfd(const Findings& findings);

// judge_resources.cc
Check JudgeCgroup(const Findings& findings);
Check JudgeLimits(const Findings& findings);
Check JudgeStore(const Findings& findings);

// The value of a sysctl, or empty.
std::string Setting(const Findings& findings, const std::string& name);

// The command that sets a sysctl until the next boot, and what keeps it.
std::string SetSysctl(const std::string& name, std::string_view value);

// "call: text of errno (NAME)".
std::string FailureText(const Trial& trial);

// The words with ", " between.
std::string Join(const std::vector<std::string>& words);

}  // namespace plimsoll::doctor
