#include "cli/exec_options.h"

#include <cstdlib>
#include <functional>
#include <optional>

#include "base/text.h"
#include "base/units.h"
#include "cli/flags.h"
#include "sys/file.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kMaxEnvFile = std::size_t{1} << 20U;
constexpr request::RequestLimits kLimits;

// The flags' texts, before they are read.
struct Raw {
  std::string image;
  std::string store;
  Words volumes;
  Words environment;
  Words env_files;
  std::string workdir;
  std::string user;
  std::string host_user;
  std::string timeout;
  std::string kill_after;
  std::string cpu_time;
  std::string memory;
  std::string pids;
  std::string cpus;
  std::string tmpfs_size;
  std::string output_limit;
  std::string floor;
  std::string trace_id;
  std::string network;
};

Error ValueError(std::string_view flag, std::string_view value, std::string_view expected) {
  return Error{
      .kind = ErrorKind::kRequest,
      .what = std::string(flag) + " " + Quote(value) + ": expected " + std::string(expected)};
}

// Runs `read` on the flag's text when the flag was given.
template <typename T, typename Target>
Result<void> ReadFlag(std::string_view flag, const std::string& text,
                      const std::function<Result<T>(std::string_view)>& read, Target& target) {
  if (text.empty()) return {};
  auto value = read(text);
  if (!value) {
    Error error = std::move(value).error();
    error.what.insert(0, std::string(flag) + " ");
    return error;
  }
  target = *std::move(value);
  return {};
}

// SRC:DST[:ro|rw]; the destination starts with "/", so a source may hold colons.
Result<request::Volume> ReadVolume(const std::string& text) {
  constexpr std::string_view kExpected = "SRC:DST, SRC:DST:ro or SRC:DST:rw";
  request::Volume volume;
  std::string_view rest = text;
  if (rest.ends_with(":ro") || rest.ends_with(":rw")) {
    volume.writable = rest.ends_with(":rw");
    rest.remove_suffix(3);
  }
  const std::size_t split = rest.rfind(":/");
  if (split == std::string_view::npos || split == 0) return ValueError("--volume", text, kExpected);
  volume.source = rest.substr(0, split);
  volume.destination = rest.substr(split + 1);
  // "SRC:/DST:rx" is a typing error or another tool's option, and would be a writable wish lost.
  if (volume.destination.find(':') != std::string::npos) {
    return ValueError("--volume", text, kExpected);
  }
  if (!volume.source.starts_with('/')) volume.source.insert(0, "./");
  return volume;
}

// A name that a shell could set; "=" and NUL cannot be in one, and an empty one is a mistake.
Result<std::string> VariableName(std::string_view name, const std::string& text) {
  if (name.empty()) return ValueError("--env", text, "NAME=VALUE or NAME");
  return std::string(name);
}

// K=V, or K for the caller's own value; an unset one is left out, as docker does.
Result<void> AddVariable(const std::string& text, request::RunRequest& request) {
  const std::size_t equals = text.find('=');
  PLIMSOLL_TRY_ASSIGN(std::string name, VariableName(text.substr(0, equals), text));
  if (equals != std::string::npos) {
    request.environment.emplace_back(std::move(name), text.substr(equals + 1));
    return {};
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this process has one thread
  const char* value = std::getenv(name.c_str());
  if (value != nullptr) request.environment.emplace_back(std::move(name), value);
  return {};
}

// One variable a line; blank lines and lines that start with "#" are passed over.
Result<void> AddEnvFile(const std::string& path, request::RunRequest& request) {
  auto text = sys::ReadFile(path, kMaxEnvFile);
  if (!text) return std::move(text).error().In("--env-file");
  for (const std::string_view line : Split(*text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    PLIMSOLL_TRY(AddVariable(std::string(line), request));
  }
  return {};
}

Result<void> AddEnvironment(const Raw& raw, request::RunRequest& request) {
  for (const std::string& path : raw.env_files)
    PLIMSOLL_TRY(AddEnvFile(path, request));
  for (const std::string& text : raw.environment)
    PLIMSOLL_TRY(AddVariable(text, request));
  return {};
}

Result<request::Tier> ReadTier(std::string_view text) {
  if (const auto tier = request::ParseTier(text)) return *tier;
  return Error{.kind = ErrorKind::kRequest,
               .what = Quote(text) + ": expected process, container, kernel or vm"};
}

Result<std::uint64_t> ReadPids(std::string_view text) {
  const auto count = ParseUint(text, kLimits.most_pids);
  if (count && *count > 0) return *count;
  return Error{
      .kind = ErrorKind::kRequest,
      .what = Quote(text) + ": expected a number from 1 to " + std::to_string(kLimits.most_pids)};
}

Result<double> ReadCpus(std::string_view text) {
  std::string_view rest = text;
  const std::optional<double> count = TakeDecimal(rest);
  if (count && rest.empty() && *count >= kLimits.least_cpus && *count <= kLimits.most_cpus)
    return *count;
  return Error{.kind = ErrorKind::kRequest,
               .what = Quote(text) + ": expected a number of processors, such as '1.5'"};
}

// A zero would mean "at once" or "none" to different readers.
Result<std::uint64_t> ReadSize(std::string_view text) {
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t bytes, ParseBytes(text));
  if (bytes >= kLimits.least_bytes) return bytes;
  return Error{.kind = ErrorKind::kRequest, .what = Quote(text) + ": expected at least 64K"};
}

Result<std::chrono::milliseconds> ReadTime(std::string_view text) {
  PLIMSOLL_TRY_ASSIGN(const std::chrono::milliseconds time, ParseDuration(text));
  if (time.count() > 0) return time;
  return Error{.kind = ErrorKind::kRequest, .what = Quote(text) + ": expected more than 0"};
}

Result<request::User> ReadUser(std::string_view text) {
  if (auto user = request::ParseUser(text)) return *std::move(user);
  return Error{.kind = ErrorKind::kRequest, .what = Quote(text) + ": expected USER or USER:GROUP"};
}

Result<std::string> ReadTraceId(std::string_view text) {
  if (request::IsTraceId(text)) return std::string(text);
  return Error{.kind = ErrorKind::kRequest,
               .what = Quote(text) + ": expected 1 to 64 of A-Z a-z 0-9 . _ : -"};
}

Result<void> ReadLimits(const Raw& raw, request::RunRequest& request) {
  request::Limits& limits = request.limits;
  PLIMSOLL_TRY(
      ReadFlag<std::chrono::milliseconds>("--timeout", raw.timeout, ReadTime, limits.timeout));
  PLIMSOLL_TRY(ReadFlag<std::chrono::milliseconds>("--kill-after", raw.kill_after, ParseDuration,
                                                   limits.kill_after));
  PLIMSOLL_TRY(
      ReadFlag<std::chrono::milliseconds>("--cpu-time", raw.cpu_time, ReadTime, limits.cpu_time));
  PLIMSOLL_TRY(ReadFlag<std::uint64_t>("--memory", raw.memory, ReadSize, limits.memory_bytes));
  PLIMSOLL_TRY(ReadFlag<std::uint64_t>("--pids-limit", raw.pids, ReadPids, limits.pids));
  PLIMSOLL_TRY(ReadFlag<double>("--cpus", raw.cpus, ReadCpus, limits.cpus));
  PLIMSOLL_TRY(
      ReadFlag<std::uint64_t>("--tmpfs-size", raw.tmpfs_size, ReadSize, limits.tmpfs_bytes));
  return ReadFlag<std::uint64_t>("--output-limit", raw.output_limit, ParseBytes,
                                 request.output_limit);
}

Result<void> ReadValues(const Raw& raw, request::RunRequest& request) {
  request.image = raw.image;
  request.workdir = raw.workdir;
  for (const std::string& text : raw.volumes) {
    PLIMSOLL_TRY_ASSIGN(request::Volume volume, ReadVolume(text));
    request.volumes.push_back(std::move(volume));
  }
  PLIMSOLL_TRY(AddEnvironment(raw, request));
  PLIMSOLL_TRY(ReadFlag<request::User>("--user", raw.user, ReadUser, request.user));
  if (!raw.host_user.empty()) {
    PLIMSOLL_TRY_ASSIGN(request.host_user, ReadHostUser(raw.host_user));
  }
  PLIMSOLL_TRY(ReadFlag<request::Tier>("--floor", raw.floor, ReadTier, request.floor));
  PLIMSOLL_TRY(ReadFlag<std::string>("--trace-id", raw.trace_id, ReadTraceId, request.trace_id));
  PLIMSOLL_TRY(ReadLimits(raw, request));
  if (!raw.network.empty() && raw.network != "none") {
    Error error = ValueError("--network", raw.network, "none");
    error.hint = "the guest has no network; single routes of single APIs are opened by a grant";
    return error;
  }
  return {};
}

void AddFileFlags(Flags& flags, Raw& raw, request::RunRequest& request) {
  flags.Value("--image", raw.image,
              "NAME[:TAG], NAME@sha256:..., oci:DIR[:TAG], oci-archive:FILE or "
              "docker-archive:FILE; default: the embedded image");
  flags.Values("-v,--volume", raw.volumes, "bind mount SRC:DST[:ro|rw], read-only by default");
  flags.Switch("--volume-all", request.volume_all,
               "in a writable volume, .git, .envrc and editor folders are writable too");
  flags.Switch("--volume-sockets", request.volume_sockets,
               "a socket, pipe or device may be a volume");
  flags.Switch("--writable-root", request.writable_root,
               "a throw-away layer over the read-only image");
  flags.Value("--store", raw.store, "where images are kept; default $XDG_DATA_HOME/plimsoll");
}

void AddProcessFlags(Flags& flags, Raw& raw, request::RunRequest& request) {
  flags.Values("-e,--env", raw.environment, "set NAME=VALUE, or pass the caller's NAME on");
  flags.Values("--env-file", raw.env_files, "variables from a file, one a line");
  flags.Value("-w,--workdir", raw.workdir, "default: the image's, else /work");
  flags.Value("-u,--user", raw.user,
              "UID[:GID] or names of the image; default: the image's, else 1000");
  flags.Value("--host-user", raw.host_user,
              "only for root: UID[:GID] of the guest on the host; default 65534");
  flags.Switch("-i,--interactive", request.interactive, "pass standard input on to the guest");
  flags.Value("--network", raw.network, "none, the only value: the guest has no network");
  flags.Value("--seccomp", request.seccomp,
              "another system call profile, in the container engines' form");
  flags.Switch("--seccomp-log", request.seccomp_log,
               "count the system calls that are refused, and list them at the end");
  flags.Value("--floor", raw.floor,
              "process, container, kernel or vm: refuse when this machine's tier is weaker");
  flags.Value("--trace-id", raw.trace_id, "the caller's own id of the run");
}

void AddLimitFlags(Flags& flags, Raw& raw, request::RunRequest& request) {
  flags.Value("--timeout", raw.timeout, "wall time, such as 30s; default none");
  flags.Value("--kill-after", raw.kill_after, "from TERM to KILL at a time limit; default 2s");
  flags.Value("--cpu-time", raw.cpu_time, "processor time of all processes together");
  flags.Value("--memory", raw.memory,
              "memory of all processes together; default half of the machine");
  flags.Value("--pids-limit", raw.pids, "processes and threads; default 512");
  flags.Value("--cpus", raw.cpus, "processors, such as 1.5");
  flags.Value("--tmpfs-size", raw.tmpfs_size,
              "/work, /tmp, /run and /dev/shm together; default 64M");
  flags.Switch("--require-limits", request.limits.require,
               "refuse to run when a limit that was asked for cannot be enforced");
  flags.Value("--output-limit", raw.output_limit,
              "bytes of each stream kept in the response; default 1M");
}

enum class Which { kMentioned, kAll };

Result<ExecCommand> Parse(const Words& words, bool is_plan, Which which) {
  ExecCommand command;
  Raw raw;
  Flags flags(is_plan ? "Prints the sandbox plan that exec would carry out, and runs nothing."
                      : "Runs one command in a sandbox.",
              is_plan ? "plimsoll plan" : "plimsoll exec", "[FLAGS] [--] COMMAND [ARG...]");
  if (which == Which::kMentioned) flags.OnlyMentioned(words);
  AddFileFlags(flags, raw, command.request);
  AddProcessFlags(flags, raw, command.request);
  AddLimitFlags(flags, raw, command.request);
  if (!is_plan) AddRecordFlags(flags, command.record);
  flags.Switch("--die-with-parent", command.die_with_parent,
               "end the run when the process that started plimsoll ends");
  flags.Switch("--json", command.request.json,
               is_plan ? "the plan as JSON" : "one JSON document instead of the guest's streams");
  flags.Switch("-q,--quiet", command.quiet, "errors only");

  PLIMSOLL_TRY_ASSIGN(Flags::Parsed parsed, flags.Parse(words, FlagsEnd::kAtFirstOperand));
  command.help = std::move(parsed.help);
  if (!command.help.empty()) return command;
  command.request.steps = {{.shell = {}, .arguments = std::move(parsed.operands)}};
  command.store = raw.store;
  PLIMSOLL_TRY(ReadValues(raw, command.request));
  PLIMSOLL_TRY(CheckRecordFlags(flags, command.record));
  return command;
}

}  // namespace

void AddRecordFlags(Flags& flags, RecordOptions& record) {
  flags.Value("--record", record.path,
              "the file that the signed record is appended to; default the store's records.jsonl");
  flags.Value("--key", record.key,
              "the private key that signs; default $XDG_CONFIG_HOME/plimsoll/harness.key, made on "
              "first use");
  flags.Switch("--no-record", record.off, "leave no record");
  flags.Switch("--record-env", record.environment,
               "record the values of variables, not only their SHA-256");
  flags.Switch("--sync", record.sync, "have the record on the disk before the run is reported");
}

Result<void> CheckRecordFlags(const Flags& flags, const RecordOptions& record) {
  if (!record.off || (record.path + record.key).empty()) return {};
  return flags.UsageError("--no-record, and a record or key beside it");
}

Result<request::HostUser> ReadHostUser(std::string_view text) {
  constexpr std::uint64_t kMost = UINT32_MAX - 1;
  const auto parts = Split(text, ':');
  const auto uid = ParseUint(parts[0], kMost);
  const auto gid = parts.size() > 1 ? ParseUint(parts[1], kMost) : uid;
  if (parts.size() > 2 || !uid || !gid || *uid == 0 || *gid == 0) {
    return Error{
        .kind = ErrorKind::kRequest,
        .what = "--host-user " + Quote(text) + ": expected UID or UID:GID, numbers above 0"};
  }
  return request::HostUser{.uid = static_cast<std::uint32_t>(*uid),
                           .gid = static_cast<std::uint32_t>(*gid)};
}

Result<ExecCommand> ParseExec(const Words& words, bool is_plan) {
  auto command = Parse(words, is_plan, Which::kMentioned);
  if (command && command->help.empty()) return command;
  // The help names every flag, and so does an error's hint.
  return Parse(words, is_plan, Which::kAll);
}

}  // namespace plimsoll::cli
