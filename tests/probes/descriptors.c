// Prints the numbers of its open descriptors on one line, without opening another.

#include <fcntl.h>
#include <stdio.h>

int main(void) {
  const char* separator = "";
  for (int fd = 0; fd < 65536; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    printf("%s%d", separator, fd);
    separator = " ";
  }
  puts("");
  return 0;
}
