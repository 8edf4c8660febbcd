// The whole program: finds the subcommand, and for a run each line takes what the line above made.

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "cli/doctor_command.h"
#include "cli/exec_options.h"
#include "cli/exit_status.h"
#include "cli/image_commands.h"
#include "cli/main_help.h"
#include "cli/paths.h"
#include "cli/policy_commands.h"
#include "cli/record_commands.h"
#include "cli/recording.h"
#include "cli/refused_calls.h"
#include "cli/report.h"
#include "cli/response.h"
#include "cli/subcommands.h"
#include "image/rootfs.h"
#include "plan/build.h"
#include "plan/plan_reader.h"
#include "policy/for_file.h"
#include "policy/shipped.h"
#include "record/draft.h"
#include "record/recorder.h"
#include "run/keeper.h"
#include "run/session.h"
#include "sys/file.h"
#include "sys/host.h"

namespace plimsoll {
namespace {

using cli::Words;

// First in the keeper's answer; the record as JSON follows.
constexpr char kRecorded = '+';
constexpr char kNotRecorded = '-';
constexpr request::RequestLimits kLimits;

// A run as far as it has come; each member is made from those above it.
struct Run {
  bool is_root = false;  // of the host; the guest is somebody else then
  bool json = false;     // how the user wants to be answered, known before anything can fail
  cli::ExecCommand command;
  sys::HostFacts host;
  std::optional<image::Rootfs> rootfs;
  std::optional<policy::Policy> policy;
  std::optional<plan::SandboxPlan> plan;
  std::optional<record::Recorder> recorder;  // nothing: the run is not recorded
  std::optional<run::Keeper> keeper;         // of a worker: who records for it
  std::optional<record::BegunDraft> begun;
  std::uint64_t started_unix_ms = 0;
};

std::uint64_t UnixMilliseconds() {
  using std::chrono::system_clock;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch())
          .count());
}

// The facts of this host for the process that will clone, which is not root even when we are.
sys::HostFacts HostFor(const request::RunRequest& request, bool is_root) {
  sys::HostFacts host = sys::ProbeHost();
  if (is_root) {
    const request::HostUser other = request.host_user.value_or(request::HostUser{});
    host.uid = other.uid;
    host.gid = other.gid;
  }
  return host;
}

// What no volume may show to a guest, besides the store.
std::vector<std::string> GuardedPaths(const Run& run) {
  std::vector<std::string> paths;
  for (const std::string& path :
       {cli::ConfigPath(), run.command.record.path, run.command.record.key}) {
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

Result<void> CheckHostUser(const Run& run) {
  if (!run.command.request.host_user || run.is_root) return {};
  return Error{.kind = ErrorKind::kRequest,
               .what =
                   "--host-user is only for root; the guest of an ordinary user is that user "
                   "on the host"};
}

// The shipped default, or the file that was named, with what the request calls for.
Result<policy::Policy> PolicyFor(const request::RunRequest& request, const sys::HostFacts& host,
                                 const std::string& store) {
  const policy::Needs needs = {.writable_volume = std::any_of(
                                   request.volumes.begin(), request.volumes.end(),
                                   [](const request::Volume& volume) { return volume.writable; })};
  if (request.seccomp.empty()) return policy::Shipped(needs);
  return policy::ForFile(request.seccomp, needs,
                         {.kernel_major = host.kernel_major, .kernel_minor = host.kernel_minor},
                         store + "/policies");
}

enum class Which { kExec, kPlan, kRun };

Result<cli::ExecCommand> ParseCommand(const Words& words, Which which) {
  return which == Which::kRun ? cli::ParseRun(words) : cli::ParseExec(words, which == Which::kPlan);
}

// argv -> request -> root -> policy -> plan. With only the help asked for, the plan stays empty.
Result<void> Prepare(Run& run, const Words& words, Which which) {
  run.is_root = sys::IsRootOfHost();
  run.json = which == Which::kRun || cli::WantsJson(words);
  PLIMSOLL_TRY_ASSIGN(run.command, ParseCommand(words, which));
  if (!run.command.help.empty()) return {};
  run.json = run.command.request.json;
  PLIMSOLL_TRY(CheckHostUser(run));
  PLIMSOLL_TRY_ASSIGN(const std::string store, cli::StorePath(run.command.store));
  run.host = HostFor(run.command.request, run.is_root);
  auto recorder = which == Which::kPlan
                      ? Result<std::optional<record::Recorder>>(std::nullopt)
                      : cli::PrepareRecorder(run.command.record, store, PLIMSOLL_VERSION,
                                             run.host.kernel_release);
  if (recorder) run.recorder = *std::move(recorder);
  PLIMSOLL_TRY_ASSIGN(run.rootfs, image::PrepareRootfs(store, run.command.request.image));
  if (!recorder) return std::move(recorder).error();  // a store that is wrong was named before
  PLIMSOLL_TRY(request::CheckSoftwareRule(run.command.request.software_rule,
                                          image::SoftwareIdentity(*run.rootfs)));
  PLIMSOLL_TRY_ASSIGN(run.policy, PolicyFor(run.command.request, run.host, store));
  PLIMSOLL_TRY_ASSIGN(run.plan, plan::Build({.request = run.command.request,
                                             .rootfs = *run.rootfs,
                                             .policy = *run.policy,
                                             .host = run.host,
                                             .store = store,
                                             .guarded_paths = GuardedPaths(run),
                                             .pass_mounts = run.is_root}));
  return {};
}

int Answer(std::string_view text) {
  return cli::PrintAnswer(text) ? 0 : cli::kRunnerFailed;
}

void PrintLoss(const char* name, const result::Stream& stream) {
  if (stream.lost_errno == 0) return;
  cli::PrintError({.kind = ErrorKind::kHost,
                   .what = std::string(name) + ": the rest of the guest's output is lost",
                   .sys_errno = stream.lost_errno});
}

// What the record can say before the run has ended.
void Begin(Run& run) {
  run.begun = record::BeginDraft({.request = &run.command.request,
                                  .rootfs = run.rootfs ? &*run.rootfs : nullptr,
                                  .policy = run.policy ? &*run.policy : nullptr,
                                  .plan = run.plan ? &*run.plan : nullptr,
                                  .runner = run.recorder->Who(),
                                  .keep_environment = run.command.record.environment});
}

// The line of a bundle that `response` belongs to, as the response says it.
cli::RecordAnswer Record(Run& run, std::string_view response) {
  if (!run.recorder) return {.json = "null"};
  if (!run.begun) Begin(run);
  const auto draft =
      record::FinishDraft(*std::move(run.begun), response.substr(0, response.size() - 1),
                          run.started_unix_ms, std::max(run.started_unix_ms, UnixMilliseconds()));
  if (!draft) return cli::NotRecorded(draft.error());
  if (!run.keeper) return cli::Record(*run.recorder, *draft);
  const auto answer = run.keeper->Ask(record::EncodeDraft(*draft));
  if (!answer) return cli::NotRecorded(answer.error());
  return {.json = answer->substr(1), .failed = answer->front() != kRecorded};
}

// What the keeper, which has the key, does for its worker.
std::string RecordForWorker(record::Recorder& recorder, std::string_view bytes) {
  const auto draft = record::DecodeDraft(bytes);
  const cli::RecordAnswer answer =
      draft ? cli::Record(recorder, *draft) : cli::NotRecorded(draft.error());
  return (answer.failed ? kNotRecorded : kRecorded) + answer.json;
}

// The end of a run: its record, its response or its error, and the exit status.
int Finish(Run& run, const result::RunResult& result) {
  for (const result::Step& step : result.steps) {
    PrintLoss("standard output", step.out);
    PrintLoss("standard error", step.err);
  }
  if (result.error) cli::PrintError(*result.error);
  if (!result.limit_note.empty()) cli::PrintNote(result.limit_note);
  for (const std::string& note : cli::RefusedCallNotes(result))
    cli::PrintNote(note);
  for (const std::string& path : result.run_later) {
    cli::PrintNote("the guest made " + Quote(path) +
                   ", which tools on this machine may run; look at it before you work there");
  }
  if (!run.json && !run.recorder) return cli::ExitStatus(result);
  const cli::ResponseParts parts = {.request = &run.command.request,
                                    .rootfs = run.rootfs ? &*run.rootfs : nullptr,
                                    .policy = run.policy ? &*run.policy : nullptr,
                                    .plan = run.plan ? &*run.plan : nullptr};
  const std::string response = cli::RunResponse(parts, result);
  const cli::RecordAnswer record = Record(run, response);
  if (run.json && !cli::PrintAnswer(cli::WithRecord(response, record.json))) {
    return cli::kRunnerFailed;
  }
  return record.failed ? cli::kRunnerFailed : cli::ExitStatus(result);
}

int Refuse(Run& run, Error error) {
  result::RunResult result;
  result.error = std::move(error);
  return Finish(run, result);
}

// Root's keeper has nothing to add to what its worker has said, unless somebody killed that.
int FinishKeeper(Run& run, const run::WorkerEnd& worker) {
  if (worker.killed_by == 0) return worker.status;
  result::RunResult result;
  result.cause = result::Cause::kSignalled;
  result.ran = result::Ran::kUnknown;
  result.signal = worker.killed_by;
  result.error = Error{.kind = ErrorKind::kHost,
                       .what = "the part of the runner that is not root was killed from outside"};
  return Finish(run, result);
}

// Prepare's plan -> result. Root leaves a keeper behind and goes on as somebody else.
int RunInSandbox(const Words& words, Which which) {
  Run run;
  run.started_unix_ms = UnixMilliseconds();
  if (auto prepared = Prepare(run, words, which); !prepared) return Refuse(run, prepared.error());
  if (!run.plan) return Answer(run.command.help);
  if (!run.command.quiet) {
    for (const std::string& warning : run.plan->warnings)
      cli::PrintNote(warning);
  }
  if (run.command.die_with_parent) {
    if (auto asked = run::DieWithParent(); !asked) return Refuse(run, asked.error());
  }
  if (run.is_root) {
    auto part = run::BecomeWorker(run.host.uid, run.host.gid, [&run](std::string_view draft) {
      return RecordForWorker(*run.recorder, draft);
    });
    if (!part) return Refuse(run, part.error());
    if (const auto* end = std::get_if<run::WorkerEnd>(&*part)) return FinishKeeper(run, *end);
    run.keeper = std::get<run::Keeper>(*std::move(part));
  }
  return Finish(run,
                run::Execute(*run.plan, {.forward_output = !run.json,
                                         .interactive = run.command.request.interactive,
                                         .output_limit = run.command.request.output_limit,
                                         .artifacts = {.bytes = kLimits.artifact_bytes,
                                                       .together = kLimits.artifact_bytes_together},
                                         .meanwhile = [&run] {
                                           if (run.recorder) Begin(run);
                                         }}));
}

int RunPlan(const Words& words) {
  Run run;
  if (auto prepared = Prepare(run, words, Which::kPlan); !prepared) {
    return cli::Fail(prepared.error(), run.json);
  }
  if (!run.plan) return Answer(run.command.help);
  return Answer(run.json ? plan::DumpJson(run.plan->bytes, run.plan->digest)
                         : plan::DumpText(run.plan->bytes));
}

int Dispatch(const Words& words) {
  const std::string first = words.empty() ? "" : words[0];
  const Words rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  if (first == "exec") return RunInSandbox(rest, Which::kExec);
  if (first == "run") return RunInSandbox(rest, Which::kRun);
  if (first == "plan") return RunPlan(rest);
  if (first == "image") return cli::RunImageCommand(rest);
  if (first == "policy") return cli::RunPolicyCommand(rest);
  if (first == "keygen") return cli::RunKeygen(rest);
  if (first == "verify") return cli::RunVerify(rest);
  if (first == "show") return cli::RunShow(rest);
  if (first == "doctor") return cli::RunDoctorCommand(rest);
  if (first == "-h" || first == "--help" || first == "help") return Answer(cli::MainHelp());
  if (first == "--version") return Answer("plimsoll " PLIMSOLL_VERSION "\n");
  return cli::Fail(cli::UnknownCommand("", first,
                                       {"exec", "run", "plan", "image", "policy", "keygen",
                                        "verify", "show", "doctor"}),
                   false);
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  if (const auto filled = plimsoll::sys::FillStandardStreams(); !filled) {
    plimsoll::cli::PrintError(filled.error());
    ::_exit(plimsoll::cli::kRunnerFailed);
  }
  (void)::signal(SIGXFSZ, SIG_IGN);  // a caller's limit on files is an error, and so has a sentence
  (void)::umask(022);  // what the store and the tree get does not depend on the caller's shell
  const int status = plimsoll::Dispatch({argv + std::min(argc, 1), argv + argc});
  // Not exit(): the thread that feeds the guest may still be reading, and there is nothing to tidy
  // up.
  (void)std::fflush(nullptr);
  ::_exit(status);
}
