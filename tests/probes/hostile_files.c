// A guest that attacks with files and descriptors: its streams, pipes, leases, a full file system.
//
// Usage: hostile_files ATTACK [ARGUMENT]   See the table at the end, and hostile.h.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "hostile.h"

enum { kBlock = 16384 };

static char block[kBlock];

static void write_bytes(int fd, char byte, size_t size) {
  memset(block, byte, sizeof block);
  for (size_t left = size; left > 0;) {
    size_t part = left < sizeof block ? left : sizeof block;
    write_all(fd, block, part);
    left -= part;
  }
}

// More pages in pipes than a user may have (/proc/sys/fs/pipe-user-pages-soft).
static int fill_pipes(const char* argument) {
  (void)argument;
  int ends[2];
  long pipes = 0;
  for (; pipe(ends) == 0; ++pipes)
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  report_number("pipes", pipes);
  stay();
}

// Puts pages into standard output that change behind its back.
static int splice_and_change(const char* argument) {
  (void)argument;
  struct iovec part = {.iov_base = block, .iov_len = sizeof block};
  int fd = open("/tmp/spliced", O_RDWR | O_CREAT, 0600);
  for (int round = 0; round < 32; ++round) {
    memset(block, 'a', sizeof block);
    if (pwrite(fd, block, sizeof block, 0) != sizeof block) return 94;
    for (loff_t at = 0; at < kBlock;)
      if (splice(fd, &at, STDOUT_FILENO, NULL, (size_t)(kBlock - at), 0) <= 0) return 95;
    memset(block, 'b', sizeof block);
    if (pwrite(fd, block, sizeof block, 0) != sizeof block) return 96;
  }
  dprintf(STDERR_FILENO, "vmsplice %s\n",
          vmsplice(STDOUT_FILENO, &part, 1, SPLICE_F_GIFT) < 0 ? strerrorname_np(errno) : "ok");
  dprintf(STDERR_FILENO, "tee %s\n",
          tee(STDOUT_FILENO, STDERR_FILENO, 1, 0) < 0 ? strerrorname_np(errno) : "ok");
  return 0;
}

// Every mode that a descriptor of a pipe has, and then the output.
static int change_modes(const char* argument) {
  (void)argument;
  ignore_all_signals();
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; ++fd) {
    static const int sizes[] = {0, 4096, 1 << 20, 1 << 30, 4096};
    for (size_t i = 0; i < COUNT(sizes); ++i)
      fcntl(fd, F_SETPIPE_SZ, sizes[i]);
    static const int owners[] = {kProcessOne, -kProcessOne, -1};
    for (size_t i = 0; i < COUNT(owners); ++i)
      fcntl(fd, F_SETOWN, owners[i]);
    fcntl(fd, F_SETSIG, SIGKILL);
    fcntl(fd, F_SETOWN, getpid());
    fcntl(fd, F_SETSIG, SIGIO);
    fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC | O_DIRECT | O_APPEND);
    fcntl(fd, F_NOTIFY, -1);
    int again = open(fd == STDOUT_FILENO ? "/proc/self/fd/1" : "/proc/self/fd/2", O_RDWR);
    fcntl(again, F_SETFL, O_NONBLOCK | O_DIRECT);
    write_bytes(fd, 'm', 300001);
  }
  return 0;
}

// Holds the image's file so that nobody else can open it, and stays.
static int lease(const char* path) {
  ignore_all_signals();
  int fd = open(path, O_RDONLY);
  report("lease", fcntl(fd, F_SETLEASE, F_WRLCK));
  report("high-bits", syscall(SYS_fcntl, fd, F_SETLEASE | 1L << 32, F_WRLCK));
  report("flock", syscall(SYS_flock, fd, LOCK_EX));
  report("up", 0);
  stay();
}

// Whether somebody else has it locked.
static int lock_at_once(const char* path) {
  report("flock", flock(open(path, O_RDONLY), LOCK_EX | LOCK_NB));
  return 0;
}

// Sends two descriptors from a socket, to `path` or, without one, to its other end.
static ssize_t send_descriptors(int from, const char* path, const int descriptors[2]) {
  const size_t size = 2 * sizeof(int);
  char control[CMSG_SPACE(2 * sizeof(int))] = {0};
  char byte = 'x';
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  if (path != NULL) strncpy(to.sun_path, path, sizeof to.sun_path - 1);
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_name = path != NULL ? &to : NULL,
                           .msg_namelen = path != NULL ? sizeof to : 0,
                           .msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof control};
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(size);
  memcpy(CMSG_DATA(head), descriptors, size);
  return sendmsg(from, &message, 0);
}

// Leaves its streams in the queue of a socket of somebody else, who never looks.
static int leave_streams(const char* path) {
  const int streams[2] = {STDOUT_FILENO, STDERR_FILENO};
  report("left", send_descriptors(socket(AF_UNIX, SOCK_DGRAM, 0), path, streams));
  printf("last words");
  fflush(stdout);
  return 4;
}

// Leaves a file in the queue of a socket that only this queue holds, and lets the kernel look for
// such sockets while it is not one yet.
static int leave_file(const char* path) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return 91;
  const int descriptors[2] = {ends[1], open(path, O_WRONLY)};
  report("left", send_descriptors(ends[0], NULL, descriptors));
  close(ends[0]);
  poll(NULL, 0, 100);  // the look is a work of the kernel's own, which says nothing at its end
  return 4;
}

static int flood(const char* argument) {
  (void)argument;
  if (fork() == 0) {
    close(STDOUT_FILENO);
    write_bytes(STDERR_FILENO, 'e', 3000001);
    _exit(0);
  }
  write_bytes(STDOUT_FILENO, 'o', 1000003);
  close(STDOUT_FILENO);
  wait(NULL);
  write_all(STDERR_FILENO, "half", 4);
  return 2;
}

static int fill_work(const char* argument) {
  (void)argument;
  if (chdir("/work") != 0) return 98;
  int file = open("file", O_WRONLY | O_CREAT, 0600);
  int result = 0;
  for (int depth = 0; depth < 3000 && result == 0; ++depth) {
    result = mkdir("deep", 0700);
    if (result == 0) result = chdir("deep");
  }
  char name[64];
  long count = 0;
  for (result = 0; result == 0; ++count) {
    snprintf(name, sizeof name, "/work/%ld", count);
    result = count % 2 == 0 ? link("/work/file", name) : symlink("/work/deep/deep", name);
  }
  report("names", result);
  report("file", link("/work/file", "/work/one-more"));
  while (write(file, block, sizeof block) > 0)
    continue;
  report("blocks", -1);
  return 0;
}

int main(int count, char** words) {
  static const struct attack attacks[] = {
      {"pipes", fill_pipes},      {"splice", splice_and_change},
      {"modes", change_modes},    {"lease", lease},
      {"lock", lock_at_once},     {"leave-streams", leave_streams},
      {"leave-file", leave_file}, {"flood", flood},
      {"fill-work", fill_work}};
  return run_attack(attacks, COUNT(attacks), count, words);
}
