// Steps as text: one sentence a kind, made from the step's bytes and from nothing else.

#include <linux/mount.h>
#include <linux/sched.h>
#include <sys/resource.h>

#include <array>
#include <cstdio>

#include "base/text.h"
#include "crypto/sha256.h"
#include "json/writer.h"
#include "plan/flag_names.h"
#include "plan/plan_reader.h"

namespace plimsoll::plan {
namespace {

using init::Phase;
using init::StepKind;

constexpr std::array<FlagName, 5> kLimitNames = {{{RLIMIT_NPROC, "nproc"},
                                                  {RLIMIT_CORE, "core"},
                                                  {RLIMIT_NOFILE, "nofile"},
                                                  {RLIMIT_CPU, "cpu"},
                                                  {RLIMIT_SIGPENDING, "sigpending"}}};

struct KindEntry {
  StepKind kind;
  std::string_view name;
};
constexpr std::array<KindEntry, 31> kKinds = {{
    {StepKind::kNamespaces, "namespaces"},
    {StepKind::kIdMap, "id-map"},
    {StepKind::kKeepCapabilities, "keep-capabilities"},
    {StepKind::kExecuteInit, "execute-init"},
    {StepKind::kDieWithRunner, "die-with-runner"},
    {StepKind::kPrivateMounts, "private-mounts"},
    {StepKind::kScratch, "scratch"},
    {StepKind::kMakeDirectory, "make-directory"},
    {StepKind::kWriteFile, "write-file"},
    {StepKind::kRoot, "root"},
    {StepKind::kOverlayRoot, "overlay-root"},
    {StepKind::kMountFilesystem, "mount-filesystem"},
    {StepKind::kBind, "bind"},
    {StepKind::kSetting, "setting"},
    {StepKind::kHostname, "hostname"},
    {StepKind::kLoopbackUp, "loopback-up"},
    {StepKind::kPivotRoot, "pivot-root"},
    {StepKind::kResourceLimit, "resource-limit"},
    {StepKind::kUmask, "umask"},
    {StepKind::kNoNewPrivileges, "no-new-privileges"},
    {StepKind::kDropCapabilities, "drop-capabilities"},
    {StepKind::kHideInit, "hide-init"},
    {StepKind::kDefaultSignals, "default-signals"},
    {StepKind::kNewSession, "new-session"},
    {StepKind::kWorkingDirectory, "working-directory"},
    {StepKind::kLandlockRuleset, "landlock-ruleset"},
    {StepKind::kLandlockRule, "landlock-rule"},
    {StepKind::kLandlockRestrict, "landlock-restrict"},
    {StepKind::kCloseDescriptors, "close-descriptors"},
    {StepKind::kSeccomp, "seccomp"},
    {StepKind::kArtifact, "artifact"},
}};

std::string Attributes(std::uint64_t flags) {
  const std::string list = FlagList(flags, kAttributeNames);
  return " (" + (list.empty() ? "none" : list) + ")";
}

std::string LimitName(std::uint64_t resource) {
  for (const auto& [number, name] : kLimitNames) {
    if (number == resource) return std::string(name);
  }
  return Number(resource);
}

std::string BlobSummary(std::string_view blob) {
  return std::to_string(blob.size()) + " bytes, sha256:" + crypto::Sha256HexOf(blob);
}

std::string WithoutNewline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return Quote(text);
}

std::string DescribeBind(const StepView& step) {
  constexpr std::array<std::string_view, 4> kFrom = {"host ", "scratch ", "root ", "descriptor "};
  const std::string source =
      step.number[1] == init::kFromFd ? Number(step.number[3]) : Quote(step.text[1]);
  std::string out = "bind " + std::string(kFrom[step.number[1] % kFrom.size()]) + source + " on " +
                    Quote("/" + std::string(step.text[0])) + Attributes(step.number[0]);
  if ((step.number[2] & init::kRecursive) != 0) out += ", with the mounts beneath it";
  if ((step.number[2] & init::kOptional) != 0) out += ", if it is there";
  if (step.number[1] != init::kFromFd && step.number[3] != 0) {
    out += ", inode " + Number(step.number[3]);
  }
  return out;
}

// A variable with its value, or with the value's SHA-256.
std::string Variable(const std::string& variable, Environment environment) {
  if (environment == Environment::kShown) return ShellQuote(variable);
  const std::size_t equals = variable.find('=');
  return ShellQuote(variable.substr(0, equals)) +
         "=sha256:" + crypto::Sha256HexOf(std::string_view(variable).substr(equals + 1));
}

std::string DescribeExec(const StepView& step, Environment environment) {
  std::vector<std::string> words;
  for (const std::string_view word : Split(step.blob, '\0'))
    words.emplace_back(word);
  words.pop_back();  // behind the last NUL
  const auto split = words.begin() + static_cast<std::ptrdiff_t>(step.number[0]);
  std::string out = "execute " + ShellJoin({words.begin(), split}) + " with PATH " +
                    Quote(step.text[0]) + " and environment";
  for (auto word = split; word != words.end(); ++word)
    out += " " + Variable(*word, environment);
  if (step.number[2] != 0) {
    out += ", with descriptors " + Number(step.number[2]) + " and " + Number(step.number[2] + 1) +
           " as output";
  }
  return out;
}

std::string DescribeMount(const StepView& step) {
  const std::string first = Quote(step.text[0]);
  switch (step.kind) {
    case StepKind::kPrivateMounts:
      return "make every mount private";
    case StepKind::kScratch:
      return "mount a tmpfs for the run: " + std::string(step.text[0]) +
             (step.text[1].empty() ? "" : ", seen at " + Quote(step.text[1]));
    case StepKind::kMakeDirectory:
      return "make scratch directory " + first + " mode " + Number(step.number[0], 8);
    case StepKind::kWriteFile:
      return "write scratch file " + first + " mode " + Number(step.number[0], 8) + ": " +
             BlobSummary(step.blob);
    case StepKind::kRoot:
      return "root from " +
             (step.text[0].empty() ? "descriptor " + Number(step.number[1]) : first) +
             Attributes(step.number[0]);
    case StepKind::kOverlayRoot:
      return "overlay on the root, upper " + first + Attributes(step.number[0]);
    case StepKind::kMountFilesystem:
      return "mount " + std::string(step.text[1]) + " on " +
             Quote("/" + std::string(step.text[0])) + Attributes(step.number[0]) + ": " +
             std::string(step.text[2]);
    case StepKind::kSetting:
      return "set '/" + std::string(step.text[0]) + "' to " + std::string(step.text[1]);
    case StepKind::kPivotRoot:
      return "make the new root '/' and detach the old one";
    default:
      return DescribeBind(step);
  }
}

std::string DescribeOwnIdentity(const StepView& step) {
  switch (step.kind) {
    case StepKind::kNamespaces:
      return "clone into new namespaces: " + FlagList(step.number[0], kNamespaceNames);
    case StepKind::kIdMap:
      return "deny setgroups, map uid " + WithoutNewline(step.text[0]) + " and gid " +
             WithoutNewline(step.text[1]);
    case StepKind::kKeepCapabilities:
      return "keep capabilities " + Number(step.number[0], 16) + " for init";
    case StepKind::kExecuteInit:
      return "execute init from a sealed memfd";
    case StepKind::kDieWithRunner:
      return "end when the runner ends";
    case StepKind::kHostname:
      return "set the host name " + Quote(step.text[0]);
    case StepKind::kLoopbackUp:
      return "bring the loopback device up";
    case StepKind::kResourceLimit:
      return "limit " + LimitName(step.number[0]) + " to " + Number(step.number[1]) + ", at most " +
             Number(step.number[2]);
    case StepKind::kUmask:
      return "set the umask to " + Number(step.number[0], 8);
    case StepKind::kNoNewPrivileges:
      return "set no_new_privs";
    case StepKind::kDropCapabilities:
      return "drop every capability, 0 to " + Number(step.number[0]);
    case StepKind::kHideInit:
      return "make init undumpable";
    default:
      return "set every signal to its default";
  }
}

std::string DescribeGuest(const StepView& step, Environment environment) {
  switch (step.kind) {
    case StepKind::kNewSession:
      return "start a session";
    case StepKind::kWorkingDirectory:
      return "change to directory " + Quote(step.text[0]);
    case StepKind::kLandlockRuleset:
      return "handle Landlock rights: files " + Number(step.number[0], 16) + ", network " +
             Number(step.number[1], 16) + ", scopes " + Number(step.number[2], 16);
    case StepKind::kLandlockRule:
      return "allow Landlock rights " + Number(step.number[0], 16) + " beneath " +
             Quote(step.text[0]);
    case StepKind::kLandlockRestrict:
      return "enforce the Landlock rules";
    case StepKind::kCloseDescriptors:
      return std::string("close every descriptor from 3 on") +
             (step.number[0] != 0 ? " when the command is executed" : "");
    case StepKind::kSeccomp:
      return std::string("load the system call filter") +
             (step.number[0] != 0 ? ", with a listener" : "") + ": " + BlobSummary(step.blob);
    case StepKind::kArtifact:
      return "send " + Quote(step.text[0]) + " of " + Quote(step.text[1]) +
             " to the runner over descriptor " + Number(step.number[1]) + ", at most " +
             Number(step.number[0]) + " bytes";
    default:
      return DescribeExec(step, environment);
  }
}

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kLaunch:
      return "launch";
    case Phase::kInit:
      return "init";
    case Phase::kGuest:
      return "guest";
    case Phase::kAfter:
      return "after";
  }
  return "unknown";
}

bool IsMount(StepKind kind) {
  return (kind >= StepKind::kPrivateMounts && kind <= StepKind::kSetting) ||
         kind == StepKind::kPivotRoot;
}

}  // namespace

std::string_view KindName(StepKind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return name;
  }
  return "exec";
}

std::string Describe(const StepView& step, Environment environment) {
  if (IsMount(step.kind)) return DescribeMount(step);
  return step.phase >= Phase::kGuest ? DescribeGuest(step, environment) : DescribeOwnIdentity(step);
}

std::string DumpText(const std::string& bytes, Environment environment) {
  std::string out;
  std::string_view phase;
  std::size_t index = 0;
  for (const StepView& step : ReadSteps(bytes)) {
    if (PhaseName(step.phase) != phase) {
      phase = PhaseName(step.phase);
      out += std::string(phase) + "\n";
    }
    std::string number = std::to_string(index++);
    number.insert(0, 4 - std::min<std::size_t>(4, number.size()), ' ');
    out += number + "  " + Describe(step, environment) + "\n";
  }
  return out;
}

std::string DumpJson(const std::string& bytes, std::string_view digest) {
  json::Writer writer(json::Writer::Style::kIndented);
  writer.BeginObject();
  writer.Member("digest", "sha256:" + std::string(digest));
  writer.Member("bytes", bytes.size());
  writer.Key("steps").BeginArray();
  std::size_t index = 0;
  for (const StepView& step : ReadSteps(bytes)) {
    writer.BeginObject();
    writer.Member("index", index++);
    writer.Member("phase", PhaseName(step.phase));
    writer.Member("kind", KindName(step.kind));
    writer.Member("description", Describe(step));
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  return writer.Take() + "\n";
}

}  // namespace plimsoll::plan
