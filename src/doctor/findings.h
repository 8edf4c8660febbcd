// What was found out about this host, as values: the doctor's look and its trials on one side, its
// judgement on the other. Tests make findings up.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "sys/host.h"

namespace plimsoll::doctor {

// Something that was tried; `error` is the errno of the step that failed, 0 when all went well.
struct Trial {
  std::string step;  // the call that failed; empty when none did
  int error = 0;
  bool tried = true;  // false: there was no sense in it, since what it needs had failed before

  bool Worked() const { return tried && error == 0; }
};

// A namespace as a run makes it, and its use inside.
struct NamespaceTrial {
  std::string name;     // as plimsoll-plan(1) prints it: "user", "mount", ...
  std::string setting;  // the sysctl that limits their number
  Trial trial;
};

// A limit that this process has and its guest inherits.
struct InheritedLimit {
  std::string name;                        // "nproc", as in limits.conf(5)
  std::optional<std::uint64_t> soft = {};  // absent: unlimited
  std::optional<std::uint64_t> hard = {};
};

// The process around us.
struct Surroundings {
  bool is_root = false;             // the caller; the guest is not
  bool in_chroot = false;           // our "/" is no mount point
  bool has_seccomp = false;         // a filter is around plimsoll already
  bool has_systemd = false;         // systemd runs this host
  std::string apparmor_profile;     // that confines plimsoll, "unconfined", or empty
  std::vector<std::string> groups;  // supplementary groups by name, without the primary one
  std::vector<InheritedLimit> limits;
};

struct CgroupFindings {
  std::string group;                          // our own in the unified hierarchy; empty: none
  bool writable = false;                      // we may make groups in it
  std::vector<std::string> controllers;       // that it could hand down
  std::vector<std::string> user_controllers;  // that systemd hands to this user's manager
};

struct StoreFindings {
  std::string path;
  bool exists = false;
  std::optional<Error> write_error = {};  // a file could not be made there
  int link_error = 0;                     // errno of link(2)
  bool noexec = false;                    // nothing on this file system may be executed
  std::uint64_t free_bytes = 0;
};

struct Findings {
  sys::HostFacts host;                          // of the process that would clone
  std::string machine;                          // uname(2), such as "x86_64"
  std::string program;                          // absolute path of this very program
  std::map<std::string, std::string> settings;  // sysctl to its value; absent: this kernel has none
  Surroundings surroundings;
  std::vector<NamespaceTrial> namespaces;  // the user namespace first
  Trial proc;                              // a fresh /proc
  std::vector<std::string> proc_covers;    // what is mounted on parts of the outer /proc
  Trial overlay;                           // with user xattrs on tmpfs, in a user namespace
  Trial memfd;                             // an executable one
  Trial seccomp;                           // filter mode
  int landlock_error = 0;                  // errno when there is no Landlock
  std::string security_modules;            // that are active, with commas; empty: unknown
  CgroupFindings cgroup;
  StoreFindings store;
  std::optional<Error> run_error = {};  // of the real run; absent: it worked
};

}  // namespace plimsoll::doctor
