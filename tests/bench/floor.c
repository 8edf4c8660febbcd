// The least that a rootless sandbox does to start a command: what plimsoll's start is measured by.
//
// Usage: floor FILTER ROOT COMMAND [ARG...]
// All namespaces with one id mapped, ROOT bound read-only, its own /proc, /tmp and a /dev of six
// nodes, pivot_root, loopback up, no capability, no_new_privs, the seccomp program of the file
// FILTER, execve. No option, no limit, no output of its own; for scripts/bench only.
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sock_filter filter[BPF_MAXINSNS];
static char mount_point[] = "/tmp/plimsoll-floor.XXXXXX";

static void Check(long result, const char* call) {
  if (result < 0) err(125, "%s", call);
}

static void Put(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  Check(fd, path);
  Check(write(fd, text, strlen(text)), path);
  close(fd);
}

static void MapIds(unsigned uid, unsigned gid) {
  char map[32];
  Put("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "0 %u 1", uid);
  Put("/proc/self/uid_map", map);
  snprintf(map, sizeof map, "0 %u 1", gid);
  Put("/proc/self/gid_map", map);
}

static void MakeDev(void) {
  static const char* const kNodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
  Check(mount("tmpfs", "dev", "tmpfs", MS_NOSUID, "mode=755"), "mount /dev");
  for (size_t i = 0; i < sizeof kNodes / sizeof *kNodes; ++i) {
    char from[32];
    snprintf(from, sizeof from, "/dev/%s", kNodes[i]);
    close(open(from + 1, O_CREAT | O_CLOEXEC, 0666));
    Check(mount(from, from + 1, NULL, MS_BIND, NULL), from);
  }
}

static void MakeRoot(const char* root) {
  Check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "make mounts private");
  Check(mount(root, mount_point, NULL, MS_BIND | MS_REC, NULL), root);
  Check(mount(NULL, mount_point, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), "remount");
  Check(chdir(mount_point), mount_point);
  Check(mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL), "mount /proc");
  Check(mount("tmpfs", "tmp", "tmpfs", MS_NOSUID | MS_NODEV, NULL), "mount /tmp");
  MakeDev();
  Check(syscall(SYS_pivot_root, ".", "."), "pivot_root");
  Check(umount2(".", MNT_DETACH), "detach the old root");
  Check(chdir("/"), "chdir /");
}

static void RaiseLoopback(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  Check(fd, "socket");
  Check(ioctl(fd, SIOCSIFFLAGS, &request), "SIOCSIFFLAGS lo");
  close(fd);
}

static void DropPrivileges(const struct sock_fprog* program) {
  for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
  Check(syscall(SYS_capset, &header, none), "capset");
  Check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  Check(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program), "seccomp");
}

int main(int argc, char** argv) {
  if (argc < 4) errx(125, "usage: floor FILTER ROOT COMMAND [ARG...]");
  const int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
  Check(fd, argv[1]);
  const ssize_t bytes = read(fd, filter, sizeof filter);
  Check(bytes, argv[1]);
  close(fd);
  const struct sock_fprog program = {(unsigned short)(bytes / (ssize_t)sizeof *filter), filter};
  if (mkdtemp(mount_point) == NULL) err(125, "mkdtemp");

  const unsigned uid = geteuid();
  const unsigned gid = getegid();
  struct clone_args arguments = {.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
                                          CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET |
                                          CLONE_NEWCGROUP,
                                 .exit_signal = SIGCHLD};
  const long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  Check(pid, "clone3");
  if (pid == 0) {
    MapIds(uid, gid);
    MakeRoot(argv[2]);
    RaiseLoopback();
    DropPrivileges(&program);
    execv(argv[3], argv + 3);
    err(127, "%s", argv[3]);
  }
  int status = 0;
  Check(waitpid((pid_t)pid, &status, 0), "waitpid");
  rmdir(mount_point);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
