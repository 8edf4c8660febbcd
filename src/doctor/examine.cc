#include "doctor/examine.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "doctor/look.h"
#include "doctor/trial.h"
#include "image/rootfs.h"
#include "plan/build.h"
#include "policy/shipped.h"
#include "run/keeper.h"
#include "run/session.h"
#include "sys/file.h"

namespace plimsoll::doctor {
namespace {

// The run can hang only where something is very wrong.
constexpr std::chrono::milliseconds kTimeout{10'000};
constexpr std::uint64_t kKeptOutput = 4096;

// A folder of our own near the place of a store that is not there, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    // A failure leaves an empty or a small folder, and there is nobody left to tell.
    if (!path_.empty()) (void)sys::RemoveTree(AT_FDCWD, path_);
  }

  void Own(std::string path) { path_ = std::move(path); }
  void Forget() { path_.clear(); }  // another process removes it

 private:
  std::string path_;
};

bool IsThere(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// `store`, or when that is not there a new folder in the nearest parent that is, which `folder`
// owns.
Result<std::string> PlaceOfStore(const std::string& store, TemporaryFolder& folder) {
  if (IsThere(store)) return store;
  std::string parent = store;
  while (parent.size() > 1 && !IsThere(parent)) {
    parent.resize(std::max<std::size_t>(1, parent.find_last_of('/')));
  }
  std::string path = parent + (parent == "/" ? "" : "/") + ".plimsoll-doctor-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return sys::ErrnoError("make a folder in " + Quote(parent));
  }
  folder.Own(path);
  return path;
}

// The real run, up to the clone.
struct PreparedRun {
  std::optional<image::Rootfs> rootfs;  // holds the tree's lock
  std::optional<plan::SandboxPlan> plan;
  std::optional<Error> error;
};

PreparedRun Prepare(const std::string& store, const std::vector<std::string>& guarded,
                    const Findings& findings) {
  request::RunRequest request;
  request.steps = {{.shell = {}, .arguments = {"true"}}};
  request.limits.timeout = kTimeout;
  PreparedRun prepared;
  auto rootfs = image::PrepareRootfs(store, request.image);
  if (!rootfs) {
    prepared.error = std::move(rootfs).error();
    return prepared;
  }
  prepared.rootfs = *std::move(rootfs);
  const policy::Policy policy = policy::Shipped();
  auto plan = plan::Build({.request = request,
                           .rootfs = *prepared.rootfs,
                           .policy = policy,
                           .host = findings.host,
                           .store = store,
                           .guarded_paths = guarded,
                           .pass_mounts = findings.surroundings.is_root});
  if (!plan) {
    prepared.error = std::move(plan).error();
  } else {
    prepared.plan = *std::move(plan);
  }
  return prepared;
}

// What went wrong with the run; nothing when it was as it should be.
std::optional<Error> Carry(PreparedRun& prepared) {
  if (prepared.error) return std::move(prepared.error);
  result::RunResult result = run::Execute(
      *prepared.plan, {.forward_output = false, .interactive = false, .output_limit = kKeptOutput});
  if (result.error) return std::move(result.error);
  if (result.cause == result::Cause::kExited && result.exit_code == 0) return std::nullopt;
  Error error{.kind = ErrorKind::kHost, .what = "'true' ran in the sandbox, "};
  if (result.cause == result::Cause::kTimedOut) {
    error.what += "but did not end in time";
  } else if (result.signal != 0) {
    error.what += "but was ended by signal " + std::to_string(result.signal);
  } else {
    error.what += "but exited with " + std::to_string(result.exit_code);
  }
  const std::string said = result.steps.empty() ? "" : result.steps.back().err.kept;
  if (!said.empty()) error.what += ", having said " + Quote(said);
  return error;
}

sys::HostFacts HostOfTheCloner(bool is_root) {
  sys::HostFacts host = sys::ProbeHost();
  if (is_root) {
    host.uid = request::HostUser{}.uid;
    host.gid = request::HostUser{}.gid;
  }
  return host;
}

}  // namespace

Result<Examination> Examine(const std::string& store, const std::vector<std::string>& guarded) {
  Examination examination;
  Findings& findings = examination.findings;
  const bool is_root = sys::IsRootOfHost();
  findings.surroundings.is_root = is_root;
  findings.host = HostOfTheCloner(is_root);

  TemporaryFolder folder;
  PreparedRun prepared;
  auto place = PlaceOfStore(store, folder);
  if (place) {
    findings.store = LookAtStore(store, *place == store ? std::string() : *place);
    prepared = Prepare(*place, guarded, findings);
  } else {
    prepared.error = place.error();
    findings.store = {.path = store, .write_error = std::move(place).error()};
  }
  if (is_root) {
    const auto asks_nothing = [](std::string_view) { return std::string(); };
    PLIMSOLL_TRY_ASSIGN(const auto part,
                        run::BecomeWorker(findings.host.uid, findings.host.gid, asks_nothing));
    const auto* const worker = std::get_if<run::WorkerEnd>(&part);
    if (worker != nullptr && worker->killed_by != 0) {
      return Error{.kind = ErrorKind::kHost,
                   .what = "the examination was killed from outside, by signal " +
                           std::to_string(worker->killed_by)};
    }
    if (worker != nullptr) {
      examination.worker_status = worker->status;
      return examination;
    }
    folder.Forget();
  }
  LookAround(findings);
  findings.memfd = TryExecutableMemfd();
  findings.seccomp = TrySeccomp();
  findings.landlock_error = LandlockError();
  TryNamespaces(findings.host.uid, findings.host.gid, findings);
  // Last, since it leaves this process undumpable.
  findings.run_error = Carry(prepared);
  return examination;
}

}  // namespace plimsoll::doctor
