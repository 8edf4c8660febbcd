#include "launch/spawn.h"

#include <fcntl.h>
#include <linux/mount.h>

#include <algorithm>
#include <cerrno>

#include "launch/child.h"
#include "plan/plan_reader.h"
#include "sys/file.h"

// The init program, embedded by the build (scripts/build.cmake).
extern "C" const char plimsoll_init_program[];
extern "C" const char plimsoll_init_program_end[];

namespace plimsoll::launch {
namespace {

using init::StepKind;

std::string_view InitProgram() {
  return {plimsoll_init_program,
          static_cast<std::size_t>(plimsoll_init_program_end - plimsoll_init_program)};
}

// Index of the plan's step of this kind; every plan has each of the launch steps.
std::uint32_t IndexOf(const std::vector<plan::StepView>& steps, StepKind kind) {
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const plan::StepView& step) { return step.kind == kind; });
  return static_cast<std::uint32_t>(found - steps.begin());
}

// A sealed memfd, which nobody can change, or a file in the store where the host forbids that.
Result<sys::UniqueFd> OpenInit(const plan::SandboxPlan& plan) {
  auto memfd = sys::SealedMemfd("plimsoll-init", InitProgram(), true);
  if (memfd || memfd.error().sys_errno != EACCES) return memfd;
  return sys::UnnamedProgram(plan.program_folder, InitProgram());
}

// What is to be 0, 1, 2, ... in init, as init/wire.h and SandboxPlan::passed say it.
std::vector<int> Descriptors(const plan::SandboxPlan& plan, const GuestStreams& streams, int report,
                             int plan_fd) {
  std::vector<int> fds = {streams.in, streams.output[0], streams.output[1], report, plan_fd};
  for (const sys::UniqueFd& mount : plan.passed)
    fds.push_back(mount.Get());
  fds.insert(fds.end(), streams.output.begin() + 2, streams.output.end());
  if (streams.artifacts >= 0) fds.push_back(streams.artifacts);
  return fds;
}

}  // namespace

Result<Sandbox> Spawn(const plan::SandboxPlan& plan, const GuestStreams& streams, int cgroup_fd) {
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd program, OpenInit(plan));
  PLIMSOLL_TRY_ASSIGN(const sys::UniqueFd plan_fd,
                      sys::SealedMemfd("plimsoll-plan", plan.bytes, false));
  PLIMSOLL_TRY_ASSIGN(sys::Pipe report, sys::MakePipe());
  // Before the clone, like all that can fail: an error behind it would say that nothing has run.
  if (::fcntl(report.read.Get(), F_SETFL, O_NONBLOCK) != 0) return sys::ErrnoError("fcntl");

  const std::vector<int> fds = Descriptors(plan, streams, report.write.Get(), plan_fd.Get());
  const std::vector<plan::StepView> steps = plan::ReadSteps(plan.bytes);
  const std::uint32_t namespaces = IndexOf(steps, StepKind::kNamespaces);
  const std::uint32_t id_map = IndexOf(steps, StepKind::kIdMap);
  const std::uint32_t capabilities = IndexOf(steps, StepKind::kKeepCapabilities);
  ChildTask task = {.uid_map = steps[id_map].text[0].data(),
                    .gid_map = steps[id_map].text[1].data(),
                    .capabilities = steps[capabilities].number[0],
                    .id_map_step = id_map,
                    .capabilities_step = capabilities,
                    .exec_step = IndexOf(steps, StepKind::kExecuteInit),
                    .report_fd = report.write.Get(),
                    .init_fd = program.Get(),
                    .fds = fds.data(),
                    .fd_count = static_cast<int>(fds.size())};
  auto child = sys::CloneVfork(steps[namespaces].number[0], cgroup_fd, BecomeInit, &task);
  if (!child) return StepError(plan, namespaces, child.error().sys_errno);
  return Sandbox{.init = *std::move(child), .report = std::move(report.read)};
}

}  // namespace plimsoll::launch
