// Opens FILE as descriptor FD and becomes the command: a shell's "FD<FILE" without a shell's cost.
//
// Usage: with_fd FD FILE COMMAND [ARG...]
// For scripts/bench, which gives bubblewrap its seccomp program this way.
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 4) errx(125, "usage: with_fd FD FILE COMMAND [ARG...]");
  const int wanted = atoi(argv[1]);
  const int fd = open(argv[2], O_RDONLY);
  if (fd < 0 || (fd != wanted && dup2(fd, wanted) < 0)) err(125, "%s as %s", argv[2], argv[1]);
  if (fd != wanted) close(fd);
  execvp(argv[3], argv + 3);
  err(127, "%s", argv[3]);
}
