// A plan while it is being made: shared by the files of this folder, and by nobody else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/build.h"
#include "plan/plan_writer.h"

namespace plimsoll::plan {

// Whom the guest is inside: numbers, and what its passwd and group need one more line for.
struct GuestUser {
  std::uint32_t uid = 1000;
  std::uint32_t gid = 1000;
  std::string passwd;  // the whole file with our line; empty: the image's file is complete
  std::string group;
};

// The guest's programs, their environment in order, and where they start.
struct GuestProcess {
  std::vector<Command> commands;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string search_path;
  std::string workdir;
};

// A volume that was looked at: what the steps need, and whether its mount point is in the image.
struct CheckedVolume {
  std::string source;  // canonical
  std::string target;  // absolute, without ".", ".." and doubled slashes
  bool writable = false;
  bool is_directory = false;
  bool needs_mount_point = false;  // the image has no such path outside our tmpfs
  bool inside_volume = false;      // its mount point is in another volume
  std::uint64_t inode = 0;
  sys::UniqueFd mount;                 // the detached mount, when the runner passes it in
  std::vector<std::string> read_only;  // entries of it that stay read-only (.git and its kind)
  std::vector<RunLater> run_later;     // those that cannot be kept from the guest
};

struct Draft {
  const Input& input;
  GuestUser user;
  GuestProcess process;
  std::vector<CheckedVolume> volumes;
  PlanWriter writer;
  SandboxPlan plan;
  policy::Program learning;  // what a learning run loads
};

// The parts of a plan; each file has one. Every function adds to the draft.
Result<GuestUser> ResolveUser(const Input& input);                    // user.cc
Result<GuestProcess> ResolveProcess(const Input& input);              // process.cc
Result<std::vector<CheckedVolume>> CheckVolumes(const Input& input);  // volumes.cc
// Refuses a source (canonical) that opens what the input guards, through whatever mount or link.
Result<void> RefuseGuarded(const Input& input, const std::string& source);  // guarded.cc
Result<void> DecideLimits(Draft& draft);                                    // limits.cc
Result<void> CheckFiles(const Draft& draft);                                // files.cc
// Writes the request's files, and the folders above them, into the scratch. `made`: the paths of
// the scratch that a mount point needs no more.
void AddFiles(Draft& draft, std::vector<std::string>& made);  // files.cc
void AddArtifacts(Draft& draft);                              // files.cc
void AddMounts(Draft& draft);                                 // mounts.cc
void AddLimits(Draft& draft);                                 // limits.cc
void AddLandlock(Draft& draft);                               // landlock.cc

// True when the root needs a layer over the image: for --writable-root, or for a mount point.
bool NeedsOverlay(const Draft& draft);

// Makes the folders of "PARENT/BELOW" in the scratch but for the last part, "PARENT" being there.
void MakeFoldersAbove(Draft& draft, std::string parent, std::string_view below,
                      std::vector<std::string>& made);  // mounts.cc

// True when `path` is, or lies beneath, one of our own writable directories (/work, /tmp, /run,
// /dev/shm).
bool IsInScratch(std::string_view path);

}  // namespace plimsoll::plan
