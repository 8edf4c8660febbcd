// What the user asked for, checked: the input of every later stage.
//
// Values only; made by cli/ of exec's flags, and by request/parse.h of a REQUEST.json. `exec` is a
// request of one step, so that there is one way from here on. Nothing here opens a file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace plimsoll::request {

// A bind mount of a host file or directory.
struct Volume {
  std::string source;       // absolute
  std::string destination;  // absolute, in the guest
  bool writable = false;
};

// Limits of the run; an absent one is not asked for.
struct Limits {
  std::optional<std::chrono::milliseconds> timeout;   // wall time
  std::chrono::milliseconds kill_after{2000};         // from TERM to KILL
  std::optional<std::chrono::milliseconds> cpu_time;  // of all processes together
  std::optional<std::uint64_t> memory_bytes;          // absent: the default of plan/limits.cc
  std::optional<std::uint64_t> pids;                  // absent: the default of plan/limits.cc
  std::optional<double> cpus;
  std::uint64_t tmpfs_bytes = std::uint64_t{64} << 20U;  // /work, /tmp, /dev/shm, /run together
  bool require = false;  // a limit that cannot be enforced refuses the run
};

// Whom the guest is, inside. Names are looked up in the image's passwd and group.
struct User {
  std::string user;   // a number or a name; empty: the image's, else 1000
  std::string group;  // a number or a name; empty: the user's
};

// Whom the guest is on the host when the runner is root.
struct HostUser {
  std::uint32_t uid = 65534;
  std::uint32_t gid = 65534;
};

enum class Tier { kProcess, kContainer, kKernel, kVm };  // weakest first

// What a request may hold. Each is checked where the request is made.
struct RequestLimits {
  std::size_t steps = 20;
  std::size_t step_bytes = 131071;  // of a shell command: one argument of execve(2)
  std::size_t files = 256;
  std::size_t file_bytes = std::size_t{64} << 20U;  // of all files together
  std::size_t artifacts = 64;
  std::uint64_t artifact_bytes = std::uint64_t{16} << 20U;  // of one
  std::uint64_t artifact_bytes_together = std::uint64_t{64} << 20U;
  std::size_t path_bytes = 1024;                            // of a file's or an artifact's path
  std::size_t document_bytes = std::size_t{128} << 20U;     // of a REQUEST.json
  std::chrono::milliseconds time = std::chrono::days(365);  // of any time limit
  std::uint64_t least_bytes = 65536;                        // that a size may limit to
  std::uint64_t most_bytes = std::uint64_t{1} << 62U;
  std::uint64_t most_pids = 1U << 22U;  // PID_MAX_LIMIT, proc(5)
  double least_cpus = 0.01;
  double most_cpus = 8192;
};

// One command of a request: a line for the image's /bin/sh -c, or an argument vector.
struct Step {
  std::optional<std::string> shell;
  std::vector<std::string> arguments = {};  // without `shell`; empty: the image's Entrypoint, Cmd
};

// Where the paths of a request's files and artifacts count from, whatever the working directory is.
inline constexpr std::string_view kProjectFolder = "/work";

// A file that is there before the first step, below the project folder.
struct File {
  std::string path;     // relative, clean (CleanRelativePath)
  std::string content;  // any bytes
  std::uint32_t mode = 0644;
};

// A file that is read after the last step, below the project folder.
struct Artifact {
  std::string path;         // relative, clean
  std::string destination;  // of exec: where it goes on the host; empty: into the response
};

// Which images a run may have, by their manifest ("oci-manifest:linux/amd64@sha256:...").
struct SoftwareRule {
  enum class Mode { kAny, kExact, kApproved } mode = Mode::kAny;
  std::vector<std::string> identities;  // kExact: the one; kApproved: one or more
};

struct RunRequest {
  std::string image;        // as given; empty: the embedded image
  std::vector<Step> steps;  // run in order in one sandbox, up to the first that fails
  std::vector<File> files;
  std::vector<Artifact> artifacts;
  SoftwareRule software_rule;
  std::string caller;                      // who asks; empty: the login name
  std::vector<std::string> grant_profile;  // names of API profiles
  std::vector<Volume> volumes;
  std::vector<std::pair<std::string, std::string>> environment;  // in order, later wins
  std::string workdir;                                           // empty: the image's, else /work
  User user;
  std::optional<HostUser> host_user;  // --host-user; only for root
  Limits limits;
  std::uint64_t output_limit = std::uint64_t{1}
                               << 20U;  // bytes of each stream kept in the response
  std::optional<Tier> floor;
  std::string trace_id;
  bool interactive = false;  // -i: the caller's stdin reaches the guest
  bool writable_root = false;
  bool volume_all = false;      // .git and its kind in a writable volume are writable too
  bool volume_sockets = false;  // a socket or device may be a volume
  std::string seccomp;          // path of a profile; empty: the shipped default
  bool seccomp_log = false;     // refused calls are counted
  bool json = false;
};

// The text of a step in results and digests (`step_command`). A shell command is its own text; of
// an argument vector every word stands in single quotes, with a blank between. No two steps share a
// text: a shell command whose first character behind any blanks is a single quote gets one blank
// more in front, which means the same to a shell, so that what begins with a quote is a vector.
std::string CommandText(const Step& step);

// "process", "container", "kernel" or "vm".
std::optional<Tier> ParseTier(std::string_view text);
// "USER" or "USER:GROUP", neither empty.
std::optional<User> ParseUser(std::string_view text);
// 1 to 64 of A-Z a-z 0-9 . _ : -
bool IsTraceId(std::string_view text);

// `path` without ".", doubled and trailing slashes; nothing when it is absolute, empty, has "..",
// a NUL or more than RequestLimits::path_bytes.
std::optional<std::string> CleanRelativePath(std::string_view path);

// Whether an image of this identity may be used. Error: kEnvironment, with the identity.
Result<void> CheckSoftwareRule(const SoftwareRule& rule, const std::string& identity);

}  // namespace plimsoll::request
