#include "plan/build.h"

#include <linux/sched.h>

#include <span>

#include "base/text.h"
#include "crypto/sha256.h"
#include "plan/draft.h"
#include "sys/file.h"
#include "sys/mount.h"

namespace plimsoll::plan {
namespace {

using init::Phase;
using init::StepKind;

constexpr std::uint64_t kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                      CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
// What init needs: mounts and the host name (CAP_SYS_ADMIN, 21), the loopback device
// (CAP_NET_ADMIN, 12), the namespace's limits (CAP_SYS_RESOURCE, 24), and the bounding set
// (CAP_SETPCAP, 8).
constexpr std::uint64_t kInitCapabilities = 1U << 21U | 1U << 12U | 1U << 24U | 1U << 8U;
// An overlay works with the rights of whoever mounted it, and its work directory has mode 0:
// CAP_CHOWN (0), CAP_DAC_OVERRIDE (1) and CAP_FOWNER (3), over nothing but the caller's own id.
constexpr std::uint64_t kOverlayCapabilities = 1U << 0U | 1U << 1U | 1U << 3U;
constexpr std::uint64_t kGuestUmask = 022;
constexpr std::uint64_t kMaxBytesBesideFiles = 4U << 20U;
static_assert(kMaxBytesBesideFiles + request::RequestLimits{}.file_bytes == init::kMaxPlanBytes);

constexpr request::Tier kMachineTier = request::Tier::kContainer;

Result<void> CheckFloor(const Input& input) {
  const auto& floor = input.request.floor;
  if (!floor || *floor <= kMachineTier) return {};
  return Error{.kind = ErrorKind::kIsolation,
               .what =
                   "--floor: this machine's tier is 'container', which is weaker than what was "
                   "asked for",
               .hint = "nothing was run; a tier of 'kernel' or 'vm' needs another runner"};
}

// The oldest kernel that has all that a plan asks for, and the one whose tmpfs has user xattrs.
Result<void> CheckKernel(const Input& input) {
  const sys::HostFacts& host = input.host;
  if (!host.KernelAtLeast(5, 15)) {
    return Error{
        .kind = ErrorKind::kUnsupported,
        .what = "this kernel is " + host.kernel_release + ", and plimsoll needs 5.15 or newer"};
  }
  if (input.request.writable_root && !host.KernelAtLeast(6, 6)) {
    return Error{
        .kind = ErrorKind::kUnsupported,
        .what = "--writable-root needs Linux 6.6 for user xattrs on tmpfs, and this kernel is " +
                host.kernel_release,
        .hint = "the guest may write to /work, /tmp, /run and /dev/shm without it"};
  }
  return {};
}

Result<void> CheckGrants(const Input& input) {
  const auto& grants = input.request.grant_profile;
  if (grants.empty()) return {};
  return Error{.kind = ErrorKind::kUnsupported,
               .what = "grant profile " + Quote(grants.front()) +
                       ": this version has no broker, so no run can be granted an API"};
}

std::string OneIdMap(std::uint32_t inside, std::uint32_t outside) {
  return std::to_string(inside) + " " + std::to_string(outside) + " 1\n";
}

// In the new namespaces, but still a copy of the runner: see launch/.
void AddLaunch(Draft& draft) {
  const sys::HostFacts& host = draft.input.host;
  draft.writer.Add(
      {.phase = Phase::kLaunch, .kind = StepKind::kNamespaces, .number = {kNamespaces}});
  draft.writer.Add(
      {.phase = Phase::kLaunch,
       .kind = StepKind::kIdMap,
       .text = {OneIdMap(draft.user.uid, host.uid), OneIdMap(draft.user.gid, host.gid)}});
  draft.writer.Add(
      {.phase = Phase::kLaunch,
       .kind = StepKind::kKeepCapabilities,
       .number = {kInitCapabilities | (NeedsOverlay(draft) ? kOverlayCapabilities : 0)}});
  draft.writer.Add({.phase = Phase::kLaunch, .kind = StepKind::kExecuteInit});
}

void AddInit(Draft& draft, StepKind kind, std::uint64_t number = 0, std::string text = {}) {
  draft.writer.Add(
      {.phase = Phase::kInit, .kind = kind, .text = {std::move(text)}, .number = {number}});
}

void AddGuest(Draft& draft, StepKind kind, std::string text = {}, std::string blob = {}) {
  draft.writer.Add(
      {.phase = Phase::kGuest, .kind = kind, .text = {std::move(text)}, .blob = std::move(blob)});
}

void AddExec(Draft& draft, const Command& command, std::uint64_t streams) {
  const GuestProcess& process = draft.process;
  std::string blob;
  for (const std::string& argument : command.arguments)
    blob += argument + '\0';
  for (const auto& [name, value] : process.environment)
    blob += name + "=" + value + '\0';
  draft.writer.Add({.phase = Phase::kGuest,
                    .kind = StepKind::kExec,
                    .text = {process.search_path},
                    .blob = std::move(blob),
                    .number = {command.arguments.size(), process.environment.size(), streams}});
}

// The first command's streams are 1 and 2 from the beginning; those of the others lie behind what
// is passed in, which must be complete here.
void AddCommands(Draft& draft) {
  const std::uint64_t behind = init::kFirstPassedFd + draft.plan.passed.size();
  for (std::size_t i = 0; i < draft.process.commands.size(); ++i) {
    AddExec(draft, draft.process.commands[i], i == 0 ? 0 : behind + 2 * (i - 1));
  }
}

std::string FilterBytes(std::span<const sock_filter> program) {
  return {reinterpret_cast<const char*>(program.data()), program.size_bytes()};
}

// In a learning run the filter asks the runner, over a listener that init sends it.
void AddSeccomp(Draft& draft) {
  const SandboxPlan& plan = draft.plan;
  const std::uint64_t learns = plan.answers.empty() ? 0 : 1;
  draft.writer.Add(
      {.phase = Phase::kGuest, .kind = StepKind::kCloseDescriptors, .number = {learns}});
  draft.writer.Add({.phase = Phase::kGuest,
                    .kind = StepKind::kSeccomp,
                    .blob = FilterBytes(learns != 0 ? draft.learning : draft.input.policy.program),
                    .number = {learns, learns != 0 ? plan.passed.size() - 1 : 0}});
}

Result<void> PrepareLearning(Draft& draft) {
  if (!draft.input.request.seccomp_log) return {};
  if (draft.process.commands.size() > 1) {
    return Error{.kind = ErrorKind::kUnsupported,
                 .what = "refused calls are counted in a run of one step only"};
  }
  const auto program = draft.input.policy.program;
  PLIMSOLL_TRY_ASSIGN(draft.learning, policy::LearningProgram(program));
  PLIMSOLL_TRY_ASSIGN(sys::SocketPair route, sys::MakeSocketPair());
  draft.plan.listener_route = std::move(route.ours);
  draft.plan.passed.push_back(std::move(route.theirs));
  draft.plan.answers.assign(program.begin(), program.end());
  return {};
}

// The order of the steps; src/init/README.md says which kernel rule forces each place.
Result<void> AddSteps(Draft& draft) {
  AddLaunch(draft);
  AddInit(draft, StepKind::kDieWithRunner);
  AddInit(draft, StepKind::kDefaultSignals);
  AddMounts(draft);
  AddInit(draft, StepKind::kHostname, 0, "plimsoll");
  AddInit(draft, StepKind::kLoopbackUp);
  AddInit(draft, StepKind::kPivotRoot);
  AddLimits(draft);
  AddInit(draft, StepKind::kUmask, kGuestUmask);
  AddInit(draft, StepKind::kNoNewPrivileges);
  AddInit(draft, StepKind::kDropCapabilities, draft.input.host.last_capability);
  AddInit(draft, StepKind::kHideInit);
  AddGuest(draft, StepKind::kNewSession);
  AddGuest(draft, StepKind::kWorkingDirectory, draft.process.workdir);
  AddLandlock(draft);
  PLIMSOLL_TRY(PrepareLearning(draft));  // behind the mounts, which are numbered from the first
  AddSeccomp(draft);
  AddCommands(draft);
  AddArtifacts(draft);
  return {};
}

// The image's tree as a detached mount. An overlay copies a file up only when it can keep its
// owner, so root's files must then appear as the guest's own.
Result<sys::UniqueFd> PassedRoot(const Draft& draft) {
  PLIMSOLL_TRY_ASSIGN(sys::UniqueFd root, sys::CloneMount(draft.input.rootfs.tree_path, false));
  if (!NeedsOverlay(draft)) return root;
  auto shown = sys::ShowRootAs(root, draft.input.host.uid, draft.input.host.gid);
  if (shown) return root;
  Error error = std::move(shown).error().In("a writable layer over a root that root owns");
  error.hint =
      "the store's file system or this kernel has no id-mapped mounts; run it as an ordinary "
      "user, or keep the store elsewhere with --store";
  return error;
}

// Files have their own limits, and so have paths, but a path may have many folders.
Result<void> CheckSize(const Draft& draft) {
  std::uint64_t bytes = draft.plan.bytes.size();
  for (const request::File& file : draft.input.request.files)
    bytes -= file.content.size();
  if (bytes > kMaxBytesBesideFiles) {
    return Error{.kind = ErrorKind::kRequest,
                 .what = "the plan takes " + std::to_string(bytes) + " bytes, more than " +
                         std::to_string(kMaxBytesBesideFiles),
                 .hint = "shorten the arguments or the environment"};
  }
  if (draft.writer.StepCount() <= init::kMaxSteps) return {};
  return Error{.kind = ErrorKind::kRequest,
               .what = "the plan has " + std::to_string(draft.writer.StepCount()) +
                       " steps, more than " + std::to_string(init::kMaxSteps),
               .hint = "the files lie in too many folders"};
}

}  // namespace

Result<SandboxPlan> Build(const Input& input) {
  Draft draft{.input = input,
              .user = {},
              .process = {},
              .volumes = {},
              .writer = {},
              .plan = {},
              .learning = {}};
  PLIMSOLL_TRY(CheckKernel(input));
  PLIMSOLL_TRY(CheckGrants(input));
  PLIMSOLL_TRY_ASSIGN(draft.user, ResolveUser(input));
  PLIMSOLL_TRY_ASSIGN(draft.process, ResolveProcess(input));
  PLIMSOLL_TRY_ASSIGN(draft.volumes, CheckVolumes(input));
  PLIMSOLL_TRY(CheckFiles(draft));
  PLIMSOLL_TRY(CheckFloor(input));
  PLIMSOLL_TRY(DecideLimits(draft));
  if (input.pass_mounts) {
    PLIMSOLL_TRY_ASSIGN(sys::UniqueFd root, PassedRoot(draft));
    draft.plan.passed.push_back(std::move(root));
  }
  PLIMSOLL_TRY(AddSteps(draft));
  draft.plan.bytes = draft.writer.Finish();
  PLIMSOLL_TRY(CheckSize(draft));
  draft.plan.digest = crypto::Sha256HexOf(draft.plan.bytes);
  draft.plan.program_folder = input.store;
  draft.plan.commands = std::move(draft.process.commands);
  return std::move(draft.plan);
}

}  // namespace plimsoll::plan
