// The whole program: finds the subcommand, and for a run each line takes what the line above made.

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/doctor_command.h"
#include "cli/exec_options.h"
#include "cli/exit_status.h"
#include "cli/image_commands.h"
#include "cli/paths.h"
#include "cli/report.h"
#include "cli/response.h"
#include "image/rootfs.h"
#include "plan/build.h"
#include "plan/plan_reader.h"
#include "policy/policy.h"
#include "run/keeper.h"
#include "run/session.h"
#include "sys/host.h"

namespace plimsoll {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kUsage =
    "Usage: plimsoll COMMAND [FLAGS] ...\n"
    "\n"
    "Runs untrusted code in a sandbox of its own: no root, no daemon, no network.\n"
    "\n"
    "  exec [FLAGS] [--] COMMAND [ARG...]   run one command\n"
    "  plan [FLAGS] [--] COMMAND [ARG...]   print the plan of such a run, and run nothing\n"
    "  image import|ls|inspect|rm|verify    the local image store\n"
    "  doctor                               what this host can do, and what to mend\n"
    "\n"
    "'plimsoll COMMAND -h' explains a command; the manual is plimsoll(1).\n";

// What exists of a run so far, for the response.
struct Stages {
  cli::ResponseParts parts;
  bool json = false;
};

// The end of a run: its response or its error, and the exit status.
int Finish(const Stages& stages, const result::RunResult& result) {
  if (result.error) cli::PrintError(*result.error);
  if (!result.detail.empty()) cli::PrintNote(result.detail);
  if (stages.json && !cli::PrintAnswer(cli::RunResponse(stages.parts, result))) {
    return cli::kRunnerFailed;
  }
  return cli::ExitStatus(result);
}

int Refuse(const Stages& stages, Error error) {
  result::RunResult result;
  result.error = std::move(error);
  return Finish(stages, result);
}

// The facts of this host for the process that will clone, which is not root even when we are.
sys::HostFacts HostFor(const request::RunRequest& request, bool is_root) {
  sys::HostFacts host = sys::ProbeHost(plan::GuardedProcPaths());
  if (is_root) {
    const request::HostUser other = request.host_user.value_or(request::HostUser{});
    host.uid = other.uid;
    host.gid = other.gid;
  }
  return host;
}

// What no volume may show to a guest, besides the store.
std::vector<std::string> GuardedPaths() {
  const std::string config = cli::ConfigPath();
  return config.empty() ? std::vector<std::string>() : std::vector<std::string>{config};
}

Result<void> CheckHostUser(const request::RunRequest& request, bool is_root) {
  if (!request.host_user || is_root) return {};
  return Error{.kind = ErrorKind::kRequest,
               .what = "--host-user is only for root; the guest of an ordinary user is that user on "
                       "the host"};
}

// exec and plan: argv -> request -> root -> policy -> plan -> (exec) result.
int RunOne(const Words& words, bool is_plan) {
  Stages stages;
  auto command = cli::ParseExec(words, is_plan);
  if (!command) return Refuse(stages, std::move(command).error());
  if (!command->help.empty()) return cli::PrintAnswer(command->help) ? 0 : cli::kRunnerFailed;
  const request::RunRequest& request = command->request;
  stages.parts.request = &request;
  stages.json = request.json && !is_plan;
  const bool is_root = sys::IsRootOfHost();
  if (auto allowed = CheckHostUser(request, is_root); !allowed) return Refuse(stages, allowed.error());

  auto store = cli::StorePath(command->store);
  if (!store) return Refuse(stages, std::move(store).error());
  auto rootfs = image::PrepareRootfs(*store, request.image);
  if (!rootfs) return Refuse(stages, std::move(rootfs).error());
  stages.parts.rootfs = &*rootfs;
  const policy::Policy policy = policy::Default();
  stages.parts.policy = &policy;
  const sys::HostFacts host = HostFor(request, is_root);
  auto plan = plan::Build({.request = request,
                           .rootfs = *rootfs,
                           .policy = policy,
                           .host = host,
                           .store = *store,
                           .guarded_paths = GuardedPaths(),
                           .pass_mounts = is_root});
  if (!plan) return Refuse(stages, std::move(plan).error());
  if (is_plan) {
    const std::string text = request.json ? plan::DumpJson(plan->bytes, plan->digest)
                                          : plan::DumpText(plan->bytes);
    return cli::PrintAnswer(text) ? 0 : cli::kRunnerFailed;
  }
  stages.parts.plan = &*plan;
  if (!command->quiet) {
    for (const std::string& warning : plan->warnings) cli::PrintNote(warning);
  }
  if (is_root) {
    auto status = run::BecomeWorker(host.uid, host.gid);
    if (!status) return Refuse(stages, std::move(status).error());
    if (*status) return **status;
  }
  const result::RunResult result = run::Execute(*plan, {.forward_output = !request.json,
                                                        .interactive = request.interactive,
                                                        .output_limit = request.output_limit});
  return Finish(stages, result);
}

int Dispatch(const Words& words) {
  const std::string first = words.empty() ? "" : words[0];
  const Words rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  if (first == "exec" || first == "plan") return RunOne(rest, first == "plan");
  if (first == "image") return cli::RunImageCommand(rest);
  if (first == "doctor") return cli::RunDoctorCommand(rest);
  if (first == "-h" || first == "--help" || first == "help") return cli::PrintAnswer(kUsage) ? 0 : 125;
  if (first == "--version") {
    return cli::PrintAnswer("plimsoll " PLIMSOLL_VERSION "\n") ? 0 : cli::kRunnerFailed;
  }
  Error error{.kind = ErrorKind::kUsage,
              .what = first.empty() ? "no command was given" : "unknown command " + Quote(first),
              .hint = "'plimsoll -h' lists the commands"};
  const std::string_view nearest = Nearest(first, {"exec", "plan", "image", "doctor"});
  if (!nearest.empty()) error.hint.insert(0, "did you mean '" + std::string(nearest) + "'? ");
  cli::PrintError(error);
  return cli::kRunnerFailed;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  (void)::umask(022);  // what the store and the tree get does not depend on the caller's shell
  const int status = plimsoll::Dispatch({argv + std::min(argc, 1), argv + argc});
  // Not exit(): the thread that feeds the guest may still be reading, and there is nothing to tidy up.
  std::fflush(nullptr);
  ::_exit(status);
}
