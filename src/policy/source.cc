#include "policy/source.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "crypto/sha256.h"
#include "policy/calls.h"
#include "policy/describe.h"
#include "policy/guard.h"
#include "policy/program.h"
#include "policy/shipped.h"
#include "sys/file.h"

namespace plimsoll::policy {
namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 20U;
constexpr std::string_view kCacheForm = "plimsoll filter 1";  // first line of a cached program
constexpr std::size_t kMaxCached = std::size_t{64} << 10U;    // 4096 instructions and their header

Result<std::string> ReadText(const std::string& path) {
  auto text = sys::ReadFile(path, kMaxText);
  if (text) return text;
  Error error = std::move(text).error().In("policy " + Quote(path));
  error.kind = ErrorKind::kRequest;
  return error;
}

Result<Difference> ReadDifference(const std::string& name) {
  if (const std::string_view text = DifferenceText(name); !text.empty()) {
    return ParseDifference(text, name);
  }
  if (name.find('/') == std::string::npos && !name.ends_with(".json")) {
    Error error{.kind = ErrorKind::kRequest,
                .what = "no difference is called " + Quote(name),
                .hint = DidYouMean(name, DifferenceNames())};
    if (error.hint.empty()) {
      error.hint = "shipped are rw-volume and sdk; a file's path has a '/' or ends in .json";
    }
    return error;
  }
  PLIMSOLL_TRY_ASSIGN(const std::string text, ReadText(name));
  return ParseDifference(text, name);
}

std::vector<std::string> UnknownCalls(const Profile& profile) {
  std::vector<std::string> unknown;
  for (const ProfileEntry& entry : profile.entries) {
    for (const std::string& name : entry.names) {
      if (!NumberOfCall(name)) unknown.push_back(name);
    }
  }
  std::sort(unknown.begin(), unknown.end());
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  return unknown;
}

struct Compiled {
  Program program;
  std::string profile_program_digest;
};

Result<Compiled> CompileProgram(const Source& source) {
  PLIMSOLL_TRY_ASSIGN(const Verdicts verdicts, VerdictsOf(source));
  PLIMSOLL_TRY_ASSIGN(const Program alone, EmitProgram(verdicts));
  PLIMSOLL_TRY_ASSIGN(Program program, EmitProgram(Stack(Guard(), verdicts)));
  return Compiled{.program = std::move(program), .profile_program_digest = ProgramDigest(alone)};
}

Policy ToPolicy(const Source& source, Compiled compiled) {
  const auto owned = std::make_shared<const Program>(std::move(compiled.program));
  return {.profile = source.name,
          .differences = source.differences,
          .digest = source.digest,
          .program_digest = ProgramDigest(*owned),
          .guard_digest = std::string(GuardDigest()),
          .profile_program_digest = std::move(compiled.profile_program_digest),
          .program = *owned,
          .owned = owned};
}

// The name of a cached program: of all that goes into it.
std::string CacheName(const Source& source) {
  return crypto::Sha256HexOf(CanonicalText(source.profile) + std::string(GuardDigest()) +
                             std::string(kCacheForm)) +
         ".bpf";
}

// The digest of a cached program is of its name, too, so that a file is not taken for another.
std::string CacheDigest(const std::string& name, std::string_view rest) {
  return "sha256:" + crypto::Sha256HexOf(name + "\n" + std::string(rest));
}

// Three lines (the form, the digest of all that follows it, the digest of the profile's program)
// and the program's bytes.
std::string CacheText(const std::string& name, const Policy& policy) {
  const auto bytes = std::as_bytes(policy.program);
  const std::string rest = policy.profile_program_digest + "\n" +
                           std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::string(kCacheForm) + "\n" + CacheDigest(name, rest) + "\n" + rest;
}

// Takes the first line off `text`; nothing when no newline ends it.
std::optional<std::string_view> TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

// Nothing when the text is not what CacheText has made.
std::optional<Compiled> ReadCacheText(const std::string& name, std::string_view text) {
  if (TakeLine(text) != kCacheForm) return std::nullopt;
  const auto digest = TakeLine(text);
  if (!digest || *digest != CacheDigest(name, text)) return std::nullopt;
  const auto profile_digest = TakeLine(text);
  if (!profile_digest || text.empty() || text.size() % sizeof(sock_filter) != 0) {
    return std::nullopt;
  }
  Compiled compiled{.program = Program(text.size() / sizeof(sock_filter)),
                    .profile_program_digest = std::string(*profile_digest)};
  std::memcpy(compiled.program.data(), text.data(), text.size());
  return compiled;
}

}  // namespace

std::string ProgramDigest(std::span<const sock_filter> program) {
  const auto bytes = std::as_bytes(program);
  return "sha256:" +
         crypto::Sha256HexOf({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<Source> ReadSource(const std::string& name, const std::vector<std::string>& differences,
                          const Platform& platform) {
  Source source{.name = name, .is_ours = name == "default", .differences = differences};
  std::string text(DefaultText());
  if (!source.is_ours) {
    PLIMSOLL_TRY_ASSIGN(text, ReadText(name));
  }
  PLIMSOLL_TRY_ASSIGN(source.profile, ParseProfile(text, name, platform));
  for (const std::string& difference : differences) {
    PLIMSOLL_TRY_ASSIGN(const Difference read, ReadDifference(difference));
    auto applied = Apply(read, std::move(source.profile));
    if (!applied) return std::move(applied).error().In("policy " + Quote(name));
    source.profile = *std::move(applied);
  }
  if (!differences.empty()) text = CanonicalText(source.profile);
  source.digest = "seccomp:sha256:" + crypto::Sha256HexOf(text);
  source.unknown_calls = UnknownCalls(source.profile);
  return source;
}

Result<Verdicts> VerdictsOf(const Source& source, Reading reading) {
  return ToVerdicts(
      source.profile,
      [](const std::string& name) -> Result<std::optional<std::uint32_t>> {
        return NumberOfCall(name);
      },
      reading);
}

Result<Policy> Compile(const Source& source) {
  auto compiled = CompileProgram(source);
  if (!compiled) return std::move(compiled).error().In("policy " + Quote(source.name));
  return ToPolicy(source, *std::move(compiled));
}

Result<Policy> CachedPolicy(const Source& source, const std::string& cache) {
  const std::string name = CacheName(source);
  const std::string path = cache + "/" + name;
  if (const auto text = sys::ReadFile(path, kMaxCached)) {
    if (auto compiled = ReadCacheText(name, *text)) return ToPolicy(source, *std::move(compiled));
  }
  PLIMSOLL_TRY_ASSIGN(Policy policy, Compile(source));
  if (sys::MakeDirectories(cache, 0700)) {
    (void)sys::ReplaceFile(AT_FDCWD, path, CacheText(name, policy),
                           0600);  // else the next run compiles
  }
  return policy;
}

}  // namespace plimsoll::policy
