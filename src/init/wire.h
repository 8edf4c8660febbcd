// The sandbox plan as bytes: what plan/ writes and what the init program carries out.
//
// A plan is one block: a header, a table of steps of one size, and a pool with the steps' texts and
// blobs. It is position independent; every reference is an offset into the pool, and init checks
// each against the pool's bounds before it looks. Texts end in a NUL inside the pool, and offset 0
// is the empty text. Numbers have the byte order of the machine, since a plan never leaves it.
//
// Plain data without any dependency but <stdint.h>, for a freestanding program.
#pragma once

#include <stdint.h>

namespace plimsoll::init {

inline constexpr uint64_t kMagic = 0x6e616c706d6c7021;  // "!plmplan"
inline constexpr uint32_t kVersion = 2;
inline constexpr uint32_t kMaxPlanBytes = 68U << 20U;  // 64 MiB of them for files
inline constexpr uint32_t kMaxSteps = 4096;

// Who carries a step out, in this order; a plan's phases never go back.
enum class Phase : uint32_t {
  kLaunch = 0,  // the clone and the cloned child, before init is executed
  kInit = 1,    // the init program, with the capabilities of the new user namespace
  kGuest = 2,   // each guest's process, just before it becomes the guest
  kAfter = 3,   // the init program again, when every process of the guest has ended
};

// Every guest's process carries out all steps of its phase up to the first kExec; behind that there
// are only kExec. The first process executes the first of them, and so on: a command is started
// when the one before it has ended with status 0 and no process of it is left.

// What a step does. `text` and `blob` are offsets into the pool, `number` are values; what each
// means stands with the step. Targets are relative to the new root and never follow a link.
enum class StepKind : uint32_t {
  // kLaunch
  kNamespaces = 1,        // number[0]: CLONE_NEW* flags
  kIdMap = 2,             // text[0]: uid_map, text[1]: gid_map; setgroups is denied first
  kKeepCapabilities = 3,  // number[0]: mask of capabilities that stay across the exec of init
  kExecuteInit = 4,       // the init program, from a sealed memfd, with an empty environment

  // kInit
  kDieWithRunner = 16,    // SIGKILL when the runner ends
  kPrivateMounts = 17,    // nothing propagates, neither in nor out
  kScratch = 18,          // the run's tmpfs, covering the host's /proc; text[0]: options, text[1]:
                          // where the guest will see it, empty when volumes lie on all such places
  kMakeDirectory = 19,    // in the scratch; text[0]: path, number[0]: mode
  kWriteFile = 20,        // in the scratch; text[0]: path, blob: content, number[0]: mode
  kRoot = 21,             // text[0]: absolute path, or empty: descriptor kFirstPassedFd +
                          // number[1]; number[0]: MOUNT_ATTR_* to add
  kOverlayRoot = 22,      // over kRoot; text[0]: upper, text[1]: work, both in the scratch;
                          // number[0]: MOUNT_ATTR_*
  kMountFilesystem = 23,  // text[0]: target, text[1]: type, text[2]: "key=value,flag" options,
                          // number[0]: MOUNT_ATTR_*
  kBind = 24,             // text[0]: target, text[1]: source by number[1] (BindFrom);
                          // number[0]: MOUNT_ATTR_* to add, number[2]: flags (BindFlags),
                          // number[3]: the source's inode, 0: unchecked
  kSetting = 25,          // text[0]: file below /proc/sys of the new root, text[1]: what it gets
  kHostname = 26,         // text[0]
  kLoopbackUp = 27,
  kPivotRoot = 28,      // the new root becomes "/", the old one is detached
  kResourceLimit = 29,  // number[0]: RLIMIT_*, number[1]: soft, number[2]: hard
  kUmask = 30,          // number[0]
  kNoNewPrivileges = 31,
  kDropCapabilities = 32,  // bounding, ambient, inheritable, permitted, effective; number[0]: the
                           // kernel's last capability
  kHideInit = 33,          // not dumpable: the guest cannot read or trace process 1
  kDefaultSignals = 34,    // every disposition at its default; the mask is emptied by kExec

  // kGuest
  kNewSession = 48,
  kWorkingDirectory = 50,  // text[0]
  kLandlockRuleset = 51,   // number[0]: file rights, [1]: network rights, [2]: scopes handled
  kLandlockRule = 52,      // text[0]: path; number[0]: file rights beneath it
  kLandlockRestrict = 53,
  kCloseDescriptors = 54,  // all from 3 on; number[0]: 1: not now, but when the guest is executed
  kSeccomp = 55,  // blob: array of struct sock_filter; number[0]: 1: with a listener, which
                  // goes out over the passed socket number[1]
  kExec = 56,     // blob: arguments, each with its NUL; text[0]: PATH to search;
                  // number[0]: arguments, number[1]: variables that follow them; number[2]: the
                  // descriptor that becomes 1, the one behind it becomes 2; 0: both are in place

  // kAfter
  kArtifact = 64,  // text[0]: path below text[1], a directory of the guest; number[0]: the most
                   // bytes, number[1]: descriptor that its parts (ArtifactPart) are written to
};

enum BindFrom : uint64_t {
  kFromHost = 0,     // an absolute path of the host, without any symbolic link in it
  kFromScratch = 1,  // a path in the scratch
  kFromRoot = 2,     // a path in the new root
  kFromFd = 3,       // a detached mount passed in; text[1] is empty, number[3] its index
};

enum BindFlags : uint64_t {
  kRecursive = 1,  // with the mounts beneath the source
  kOptional = 2,   // nothing to do when the target is not there
};

struct Step {
  Phase phase;
  StepKind kind;
  uint32_t text[3];
  uint32_t blob;
  uint32_t blob_size;
  uint32_t reserved;  // 0
  uint64_t number[4];
};
static_assert(sizeof(Step) == 64);

struct Header {
  uint64_t magic;
  uint32_t version;
  uint32_t total_size;  // of header, steps and pool
  uint32_t step_count;
  uint32_t steps_offset;
  uint32_t pool_offset;
  uint32_t pool_size;
};
static_assert(sizeof(Header) == 32);

// Descriptors that init is started with, besides the guest's 0, 1 and 2.
inline constexpr int kReportFd = 3;       // write end of the report pipe
inline constexpr int kPlanFd = 4;         // the sealed plan
inline constexpr int kFirstPassedFd = 5;  // detached mounts, in the plan's order; then what kExec
                                          // and kArtifact name

// What comes back over the report pipe, for each command in this order: kStarted, then kExited; or
// one kStepFailed; or one kNotExecuted. No command follows one that did not exit with status 0. A
// pipe that ends without kExited means that init was killed.
enum class ReportKind : uint32_t {
  kStepFailed = 1,   // value: step index, detail: errno
  kNotExecuted = 2,  // value: errno of execve, detail: 1 when the file itself was found
  kStarted = 3,      // the command's program has begun
  kExited = 4,       // value: wait status of the command's first process, detail: KiB that the
                     // largest of the processes reaped so far had resident
};

struct Report {
  ReportKind kind;
  uint32_t value;
  uint32_t detail;
  uint32_t flags;    // ReportFlags
  uint32_t command;  // which, from 0
};

enum ReportFlags : uint32_t {
  kScratchFull = 1,  // with kExited: the run's tmpfs had no block or no inode left
};
static_assert(sizeof(Report) == 20);

// The runner asks init, which forwards every other signal of its own to the guest's first process
// group, to send SIGTERM to every process of the sandbox.
inline constexpr int kTerminateAllSignal = 40;

// An artifact comes as parts: this, and `size` bytes behind it. The last has none; it says whether
// the content is whole.
struct ArtifactPart {
  uint32_t artifact;  // which, from 0, in the plan's order
  uint32_t size;      // at most kMaxPartBytes; 0: the artifact ends
  uint32_t error;     // with size 0: an errno, or 0. EFBIG: larger than it may be, EMEDIUMTYPE: no
                      // regular file
};
static_assert(sizeof(ArtifactPart) == 12);
inline constexpr uint32_t kMaxPartBytes = 1U << 16U;

}  // namespace plimsoll::init
