#include "request/parse.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "json/reader.h"

namespace plimsoll::request {
namespace {

constexpr RequestLimits kLimits;
constexpr std::size_t kMostDepth = 16;
constexpr std::size_t kMostNameBytes = 256;  // of a caller, a grant or an identity
constexpr std::uint64_t kProtocol = 2;

// Runs `read` on the member when it is there and not null; its result goes to `target`.
template <typename Target, typename Read>
Result<void> ReadMember(const json::Value& object, std::string_view name, Target& target,
                        const Read& read) {
  PLIMSOLL_TRY_ASSIGN(const std::optional<json::Value> member, object.Find(name));
  if (!member) return {};
  auto value = read(*member);
  if (!value) return std::move(value).error();
  target = *std::move(value);
  return {};
}

Result<std::string> ReadText(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  if (text.find('\0') != std::string_view::npos) return value.Complaint("has a NUL byte");
  return std::string(text);
}

Result<std::string> ReadName(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(std::string text, ReadText(value));
  if (!text.empty() && text.size() <= kMostNameBytes) return text;
  return value.Complaint("expected 1 to " + std::to_string(kMostNameBytes) + " bytes");
}

Result<bool> ReadBool(const json::Value& value) {
  return value.Bool();
}

Result<std::vector<std::string>> ReadNames(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const auto items, value.Array());
  std::vector<std::string> names;
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(std::string name, ReadName(item));
    names.push_back(std::move(name));
  }
  return names;
}

// At least `least`, and none of the others a limit could mean.
Result<std::uint64_t> ReadCount(const json::Value& value, std::uint64_t least, std::uint64_t most) {
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t count, value.Uint(most));
  if (count >= least) return count;
  return value.Complaint("expected at least " + std::to_string(least) + ", found " +
                         std::to_string(count));
}

Result<std::uint64_t> ReadSize(const json::Value& value) {
  return ReadCount(value, kLimits.least_bytes, kLimits.most_bytes);
}

Result<std::chrono::milliseconds> ReadTime(const json::Value& value, std::uint64_t least) {
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t count,
                      ReadCount(value, least, static_cast<std::uint64_t>(kLimits.time.count())));
  return std::chrono::milliseconds(count);
}

// An absent floor, timeout, trace id or software rule may also be written out as "" and 0.
Result<std::optional<Tier>> ReadTier(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  auto tier = ParseTier(text);
  if (tier || text.empty()) return tier;
  return value.Complaint("expected process, container, kernel or vm");
}

Result<std::optional<std::chrono::milliseconds>> ReadTimeout(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const std::chrono::milliseconds time, ReadTime(value, 0));
  return time.count() == 0 ? std::nullopt : std::optional(time);
}

Result<std::string> ReadTraceId(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  if (text.empty() || IsTraceId(text)) return std::string(text);
  return value.Complaint("expected 1 to 64 of A-Z a-z 0-9 . _ : -");
}

Result<SoftwareRule> ReadSoftwareRule(const json::Value& value) {
  PLIMSOLL_TRY(value.OnlyMembers({"mode", "identities"}));
  SoftwareRule rule;
  std::string mode;
  PLIMSOLL_TRY(ReadMember(value, "mode", mode, ReadText));
  PLIMSOLL_TRY(ReadMember(value, "identities", rule.identities, ReadNames));
  const std::size_t count = rule.identities.size();
  if (mode.empty() && count == 0) return rule;
  rule.mode = mode == "exact" ? SoftwareRule::Mode::kExact : SoftwareRule::Mode::kApproved;
  if ((mode == "exact" && count == 1) || (mode == "approved" && count > 0)) return rule;
  return value.Complaint(
      "expected mode \"exact\" and one identity, \"approved\" and some, or \"\"");
}

Result<std::string> ReadPath(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const std::string_view text, value.String());
  if (auto path = CleanRelativePath(text)) return *std::move(path);
  return value.Complaint("expected a relative path without '..', of at most " +
                         std::to_string(kLimits.path_bytes) + " bytes, found " + Quote(text, 64));
}

Result<std::string> ReadContent(const json::Value& file) {
  PLIMSOLL_TRY_ASSIGN(const std::optional<json::Value> text, file.Find("text"));
  PLIMSOLL_TRY_ASSIGN(const std::optional<json::Value> base64, file.Find("base64"));
  if (text.has_value() == base64.has_value()) {
    return file.Complaint("expected either a member 'text' or a member 'base64'");
  }
  PLIMSOLL_TRY_ASSIGN(const std::string_view content, (text ? text : base64)->String());
  if (text) return std::string(content);
  if (auto bytes = DecodeBase64(content)) return *std::move(bytes);
  return base64->Complaint("expected standard base64 with padding");
}

Result<File> ReadFile(const json::Value& value) {
  constexpr std::uint32_t kExecutable = 0755;
  PLIMSOLL_TRY(value.OnlyMembers({"path", "text", "base64", "executable"}));
  File file;
  PLIMSOLL_TRY_ASSIGN(const json::Value path, value.Member("path"));
  PLIMSOLL_TRY_ASSIGN(file.path, ReadPath(path));
  PLIMSOLL_TRY_ASSIGN(file.content, ReadContent(value));
  bool is_executable = false;
  PLIMSOLL_TRY(ReadMember(value, "executable", is_executable, ReadBool));
  if (is_executable) file.mode = kExecutable;
  return file;
}

// The items of an array of at most `most`.
Result<std::vector<json::Value>> ReadItems(const json::Value& value, std::size_t most) {
  PLIMSOLL_TRY_ASSIGN(std::vector<json::Value> items, value.Array());
  if (items.size() <= most) return items;
  return value.Complaint("expected at most " + std::to_string(most) + " items, found " +
                         std::to_string(items.size()));
}

Result<std::vector<File>> ReadFiles(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const auto items, ReadItems(value, kLimits.files));
  std::vector<File> files;
  std::set<std::string> paths;
  std::size_t bytes = 0;
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(File file, ReadFile(item));
    if (!paths.insert(file.path).second) {
      return item.Complaint("the file " + Quote(file.path, 64) + " is given twice");
    }
    bytes += file.content.size();
    if (bytes > kLimits.file_bytes) {
      return value.Complaint("the files have more than " + std::to_string(kLimits.file_bytes) +
                             " bytes together");
    }
    files.push_back(std::move(file));
  }
  return files;
}

Result<std::vector<Artifact>> ReadArtifacts(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const auto items, ReadItems(value, kLimits.artifacts));
  std::vector<Artifact> artifacts;
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(std::string path, ReadPath(item));
    const bool is_twin = std::any_of(artifacts.begin(), artifacts.end(),
                                     [&](const Artifact& other) { return other.path == path; });
    if (is_twin) return item.Complaint("the artifact " + Quote(path, 64) + " is given twice");
    artifacts.push_back({.path = std::move(path), .destination = {}});
  }
  return artifacts;
}

Result<Step> ReadStep(const json::Value& value) {
  if (value.GetKind() == json::Kind::kString) {
    PLIMSOLL_TRY_ASSIGN(std::string text, ReadText(value));
    if (!text.empty() && text.size() <= kLimits.step_bytes) return Step{.shell = std::move(text)};
    return value.Complaint("expected a shell command of 1 to " +
                           std::to_string(kLimits.step_bytes) + " bytes");
  }
  if (value.GetKind() != json::Kind::kObject) {
    return value.Complaint("expected a shell command, or an object with the member 'argv'");
  }
  PLIMSOLL_TRY(value.OnlyMembers({"argv"}));
  PLIMSOLL_TRY_ASSIGN(const json::Value argv, value.Member("argv"));
  PLIMSOLL_TRY_ASSIGN(const auto words, argv.Array());
  Step step;
  for (const json::Value& word : words) {
    PLIMSOLL_TRY_ASSIGN(std::string text, ReadText(word));
    step.arguments.push_back(std::move(text));
  }
  if (step.arguments.empty() || step.arguments.front().empty()) {
    return argv.Complaint("expected a program, and its arguments");
  }
  return step;
}

Result<std::vector<Step>> ReadSteps(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const auto items, ReadItems(value, kLimits.steps));
  if (items.empty()) return value.Complaint("expected at least one step");
  std::vector<Step> steps;
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(Step step, ReadStep(item));
    steps.push_back(std::move(step));
  }
  return steps;
}

Result<std::vector<std::pair<std::string, std::string>>> ReadEnvironment(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const auto members, value.Members());
  std::vector<std::pair<std::string, std::string>> environment;
  for (const auto& [name, member] : members) {
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string_view::npos) {
      return member.Complaint("this is no name of a variable");
    }
    PLIMSOLL_TRY_ASSIGN(std::string text, ReadText(member));
    environment.emplace_back(name, std::move(text));
  }
  return environment;
}

Result<User> ReadUser(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const std::string text, ReadText(value));
  if (text.empty()) return User{};
  if (auto user = ParseUser(text)) return *std::move(user);
  return value.Complaint("expected USER or USER:GROUP");
}

Result<std::string> ReadWorkdir(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(std::string text, ReadText(value));
  if (text.empty() || text.starts_with('/')) return text;
  return value.Complaint("expected an absolute path");
}

Result<double> ReadCpus(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const double count, value.Double());
  if (count >= kLimits.least_cpus && count <= kLimits.most_cpus) return count;
  return value.Complaint("expected a number of processors, such as 1.5");
}

Result<void> ReadLimits(const json::Value& value, RunRequest& request) {
  PLIMSOLL_TRY(value.OnlyMembers({"kill_after_ms", "cpu_time_ms", "memory_bytes", "pids", "cpus",
                                  "tmpfs_bytes", "output_bytes", "require"}));
  Limits& limits = request.limits;
  const auto time = [](const json::Value& member) { return ReadTime(member, 1); };
  const auto grace = [](const json::Value& member) { return ReadTime(member, 0); };
  const auto count = [](const json::Value& member) {
    return ReadCount(member, 1, kLimits.most_pids);
  };
  const auto output = [](const json::Value& member) { return member.Uint(kLimits.most_bytes); };
  PLIMSOLL_TRY(ReadMember(value, "kill_after_ms", limits.kill_after, grace));
  PLIMSOLL_TRY(ReadMember(value, "cpu_time_ms", limits.cpu_time, time));
  PLIMSOLL_TRY(ReadMember(value, "memory_bytes", limits.memory_bytes, ReadSize));
  PLIMSOLL_TRY(ReadMember(value, "pids", limits.pids, count));
  PLIMSOLL_TRY(ReadMember(value, "cpus", limits.cpus, ReadCpus));
  PLIMSOLL_TRY(ReadMember(value, "tmpfs_bytes", limits.tmpfs_bytes, ReadSize));
  PLIMSOLL_TRY(ReadMember(value, "output_bytes", request.output_limit, output));
  return ReadMember(value, "require", limits.require, ReadBool);
}

Result<Volume> ReadMount(const json::Value& value) {
  PLIMSOLL_TRY(value.OnlyMembers({"source", "destination", "writable"}));
  Volume volume;
  PLIMSOLL_TRY_ASSIGN(const json::Value source, value.Member("source"));
  PLIMSOLL_TRY_ASSIGN(const json::Value destination, value.Member("destination"));
  PLIMSOLL_TRY_ASSIGN(volume.source, ReadText(source));
  PLIMSOLL_TRY_ASSIGN(volume.destination, ReadText(destination));
  // A document has no folder that a relative path could count from.
  if (!volume.source.starts_with('/')) return source.Complaint("expected an absolute path");
  PLIMSOLL_TRY(ReadMember(value, "writable", volume.writable, ReadBool));
  return volume;
}

Result<std::vector<Volume>> ReadMounts(const json::Value& value) {
  PLIMSOLL_TRY_ASSIGN(const auto items, value.Array());
  std::vector<Volume> volumes;
  for (const json::Value& item : items) {
    PLIMSOLL_TRY_ASSIGN(Volume volume, ReadMount(item));
    volumes.push_back(std::move(volume));
  }
  return volumes;
}

Result<void> ReadProject(const json::Value& value, RunRequest& request) {
  PLIMSOLL_TRY(value.OnlyMembers({"grant_profile", "files", "steps", "artifacts", "env", "workdir",
                                  "user", "limits", "mounts"}));
  PLIMSOLL_TRY_ASSIGN(const json::Value steps, value.Member("steps"));
  PLIMSOLL_TRY_ASSIGN(request.steps, ReadSteps(steps));
  PLIMSOLL_TRY(ReadMember(value, "grant_profile", request.grant_profile, ReadNames));
  PLIMSOLL_TRY(ReadMember(value, "files", request.files, ReadFiles));
  PLIMSOLL_TRY(ReadMember(value, "artifacts", request.artifacts, ReadArtifacts));
  PLIMSOLL_TRY(ReadMember(value, "env", request.environment, ReadEnvironment));
  PLIMSOLL_TRY(ReadMember(value, "workdir", request.workdir, ReadWorkdir));
  if (request.workdir.empty()) request.workdir = kProjectFolder;
  PLIMSOLL_TRY(ReadMember(value, "user", request.user, ReadUser));
  PLIMSOLL_TRY(ReadMember(value, "mounts", request.volumes, ReadMounts));
  PLIMSOLL_TRY_ASSIGN(const std::optional<json::Value> limits, value.Find("limits"));
  return limits ? ReadLimits(*limits, request) : Result<void>();
}

}  // namespace

Result<RunRequest> Parse(std::string text, const std::string& name) {
  PLIMSOLL_TRY_ASSIGN(
      const json::Document document,
      json::Parse(std::move(text), name, {.bytes = kLimits.document_bytes, .depth = kMostDepth}));
  const json::Value root = document.Root();
  PLIMSOLL_TRY(root.OnlyMembers({"protocol", "minimum_isolation", "timeout_ms", "trace_id",
                                 "software_rule", "image", "caller", "project"}));
  PLIMSOLL_TRY_ASSIGN(const json::Value protocol, root.Member("protocol"));
  PLIMSOLL_TRY_ASSIGN(const std::uint64_t version, protocol.Uint());
  if (version != kProtocol) {
    return protocol.Complaint("expected 2, the only version, found " + std::to_string(version));
  }
  RunRequest request;
  request.json = true;
  PLIMSOLL_TRY(ReadMember(root, "minimum_isolation", request.floor, ReadTier));
  PLIMSOLL_TRY(ReadMember(root, "timeout_ms", request.limits.timeout, ReadTimeout));
  PLIMSOLL_TRY(ReadMember(root, "trace_id", request.trace_id, ReadTraceId));
  PLIMSOLL_TRY(ReadMember(root, "software_rule", request.software_rule, ReadSoftwareRule));
  PLIMSOLL_TRY(ReadMember(root, "image", request.image, ReadText));
  PLIMSOLL_TRY(ReadMember(root, "caller", request.caller, ReadText));
  PLIMSOLL_TRY_ASSIGN(const json::Value project, root.Member("project"));
  PLIMSOLL_TRY(ReadProject(project, request));
  return request;
}

}  // namespace plimsoll::request
