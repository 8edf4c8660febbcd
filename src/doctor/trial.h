// What is found out by trying, in children that leave nothing behind.
#pragma once

#include <cstdint>

#include "doctor/findings.h"

namespace plimsoll::doctor {

// Makes each namespace of a run, the user namespace first, maps `uid` and `gid` (our own) in it and
// uses the new namespace; fills in the results, and those of a fresh /proc and of an overlay.
//
// The calling thread must be the only one of the process.
void TryNamespaces(std::uint32_t uid, std::uint32_t gid, Findings& findings);

// An executable memfd; seccomp filters; Landlock's version.
Trial TryExecutableMemfd();
Trial TrySeccomp();
int LandlockError();

}  // namespace plimsoll::doctor
