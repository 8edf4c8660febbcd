// Limits of the run, each with the mechanism that enforces it on this host, or "not enforced".

#include <sys/resource.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "plan/draft.h"

namespace plimsoll::plan {
namespace {

using init::Phase;
using init::StepKind;

constexpr std::uint64_t kDefaultPids = 512;
constexpr std::uint64_t kDescriptors = 1024;
constexpr std::uint64_t kPendingSignals = 4096;
constexpr std::uint64_t kMostDescriptors = 65536;
constexpr std::uint64_t kCpuPeriodMicroseconds = 100'000;

constexpr const char* kDelegationCure =
    "enforcing it needs a cgroup v2 group with the memory, pids and cpu controllers delegated to "
    "this user; start the command with 'systemd-run --user --scope -p Delegate=yes'";
constexpr const char* kNoCpuTimeMechanism =
    "no kernel limits the processor time of several processes together; --timeout ends the run by "
    "a timer";

constexpr std::string_view kWatchdog = "watchdog";
constexpr std::string_view kNotEnforced = "not enforced";

void Note(Draft& draft, std::string name, std::string value, std::string_view mechanism,
          bool asked) {
  draft.plan.limits.push_back({.name = std::move(name),
                               .value = std::move(value),
                               .mechanism = std::string(mechanism),
                               .asked = asked});
}

void DecideMemory(Draft& draft) {
  const auto& asked = draft.input.request.limits.memory_bytes;
  // Half of the machine leaves the host the other half, whatever the guest does.
  const std::uint64_t bytes = asked.value_or(draft.input.host.memory_bytes / 2);
  if (!draft.plan.cgroup.parent.empty()) {
    draft.plan.cgroup.memory_max = std::to_string(bytes);
    Note(draft, "memory", std::to_string(bytes) + " bytes", "cgroup", asked.has_value());
    return;
  }
  draft.plan.supervision.memory_bytes = bytes;
  draft.plan.supervision.memory_asked = asked.has_value();
  Note(draft, "memory", std::to_string(bytes) + " bytes", kWatchdog, asked.has_value());
}

void DecidePids(Draft& draft) {
  const auto& asked = draft.input.request.limits.pids;
  const std::uint64_t count =
      std::min(asked.value_or(kDefaultPids), draft.input.host.task_limit - 1);
  // The kernel counts RLIMIT_NPROC per user namespace and user (5.14), so here it counts the tasks
  // of this sandbox alone, init among them.
  draft.writer.Add({.phase = Phase::kInit,
                    .kind = StepKind::kResourceLimit,
                    .number = {RLIMIT_NPROC, count + 1, count + 1}});
  draft.plan.supervision.most_tasks = count + 1;
  if (!draft.plan.cgroup.parent.empty()) draft.plan.cgroup.pids_max = std::to_string(count + 1);
  Note(draft, "pids", std::to_string(count), draft.plan.cgroup.parent.empty() ? "rlimit" : "cgroup",
       asked.has_value());
}

}  // namespace

Result<void> DecideLimits(Draft& draft) {
  const request::Limits& limits = draft.input.request.limits;
  SandboxPlan& plan = draft.plan;
  plan.cgroup.parent = draft.input.host.cgroup;
  plan.supervision.timeout = limits.timeout;
  plan.supervision.kill_after = limits.kill_after;
  plan.supervision.cpu_time = limits.cpu_time;
  if (limits.timeout) {
    Note(draft, "timeout", std::to_string(limits.timeout->count()) + " ms", "timer", true);
  }
  if (limits.cpu_time) {
    Note(draft, "cpu-time", std::to_string(limits.cpu_time->count()) + " ms", kWatchdog, true);
  }
  DecideMemory(draft);
  if (limits.cpus) {
    std::string value = std::to_string(*limits.cpus);
    value.erase(value.find_last_not_of('0') + 1);
    if (value.ends_with('.')) value.pop_back();
    const bool enforced = !plan.cgroup.parent.empty();
    if (enforced) {
      // Rounded by hand: llround would make libm a library of the shipped program.
      const auto quota = static_cast<std::uint64_t>(
          *limits.cpus * static_cast<double>(kCpuPeriodMicroseconds) + 0.5);
      plan.cgroup.cpu_max = std::to_string(quota) + " " + std::to_string(kCpuPeriodMicroseconds);
    }
    Note(draft, "cpus", value, enforced ? "cgroup" : kNotEnforced, true);
  }
  Note(draft, "tmpfs-size", std::to_string(limits.tmpfs_bytes) + " bytes", "tmpfs", false);
  Note(draft, "output-limit", std::to_string(draft.input.request.output_limit) + " bytes", "runner",
       false);

  for (const Limit& limit : plan.limits) {
    if (!limit.asked || (limit.mechanism != kWatchdog && limit.mechanism != kNotEnforced)) continue;
    const std::string how = limit.mechanism == kWatchdog
                                ? "is watched, but a hostile guest can evade that"
                                : "is not enforced";
    const std::string text = "--" + limit.name + " " + how;
    const std::string cure = limit.name == "cpu-time" ? kNoCpuTimeMechanism : kDelegationCure;
    if (limits.require) {
      return Error{.kind = ErrorKind::kCapacity,
                   .what = text + ", and --require-limits was given",
                   .hint = cure};
    }
    plan.warnings.push_back(text + "; " + cure);
  }
  return {};
}

void AddLimits(Draft& draft) {
  const auto add = [&](std::uint64_t resource, std::uint64_t soft, std::uint64_t hard) {
    draft.writer.Add({.phase = Phase::kInit,
                      .kind = StepKind::kResourceLimit,
                      .number = {resource, soft, hard}});
  };
  DecidePids(draft);
  // 1 and not 0: a core_pattern that is a pipe ignores 0 and runs its program on the host
  // (core(5)).
  const sys::HostFacts& host = draft.input.host;
  const std::uint64_t core = std::min<std::uint64_t>(1, host.core_limit);
  add(RLIMIT_CORE, core, core);
  const std::uint64_t descriptors = std::min(kMostDescriptors, host.descriptor_limit);
  add(RLIMIT_NOFILE, std::min(kDescriptors, descriptors), descriptors);
  // Counted for the user, who is the caller on the host: a guest that fills the queue leaves the
  // caller's programs none.
  const std::uint64_t signals = std::min(kPendingSignals, host.signal_limit);
  add(RLIMIT_SIGPENDING, signals, signals);
  if (const auto& cpu_time = draft.input.request.limits.cpu_time) {
    // Whole seconds, and each process by itself: the watchdog looks at the sum.
    const auto seconds = static_cast<std::uint64_t>((cpu_time->count() + 999) / 1000);
    add(RLIMIT_CPU, std::min(seconds + 1, host.cpu_limit), std::min(seconds + 2, host.cpu_limit));
  }
}

}  // namespace plimsoll::plan
