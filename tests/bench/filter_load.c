// How long loading a filter takes: the median over many processes, in microseconds.
//
// Usage: filter_load FILTER
// Each process sets no_new_privs and loads the program once, as a guest does; a second one in the
// same process would stack. For scripts/bench.
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 301 };

static int Compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static double Microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(int argc, char** argv) {
  static struct sock_filter filter[BPF_MAXINSNS];
  if (argc != 2) errx(125, "usage: filter_load FILTER");
  const int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = fd < 0 ? -1 : read(fd, filter, sizeof filter);
  if (bytes < 0) err(125, "%s", argv[1]);
  const struct sock_fprog program = {(unsigned short)(bytes / (ssize_t)sizeof *filter), filter};
  double* times = mmap(NULL, kRounds * sizeof *times, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (times == MAP_FAILED) err(125, "mmap");
  for (int i = 0; i < kRounds; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) err(125, "no_new_privs");
      const double begin = Microseconds();
      if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) err(125, "seccomp");
      times[i] = Microseconds() - begin;
      _exit(0);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) errx(125, "round %d", i);
  }
  qsort(times, kRounds, sizeof *times, Compare);
  printf("%.1f\n", times[kRounds / 2]);
  return 0;
}
