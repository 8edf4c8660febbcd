// The fixed part of every tree: mount points and the few files of /etc that are ours.
#pragma once

#include "base/error.h"

namespace plimsoll::image {

// Adds to the directory `tree` what every run needs, in place of whatever the image has there of
// another type; a name is replaced, never followed, and a file is made anew, never written to,
// since it may be a hard link to a layer's.
//
//   proc sys dev dev/pts dev/shm tmp run work etc   directories; dev and sys are emptied
//   dev/null zero full random urandom tty           empty files, to bind devices on
//   dev/fd stdin stdout stderr ptmx                 symbolic links
//   etc/hosts hostname resolv.conf                  ours
//   etc/passwd group                                the image's, with a line for 1000 if it has
//   none
Result<void> AddSkeleton(int tree);

}  // namespace plimsoll::image
