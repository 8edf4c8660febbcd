// A guest that tries every call that leads to process 1, to a terminal or into the kernel. The
// arguments are such that an unfiltered kernel would change at most the sandbox.
//
// Usage: hostile_calls ATTACK   See the table at the end, and hostile.h.

#include <fcntl.h>
#include <linux/fanotify.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "hostile.h"

static char block[4096];

static int reach_process_one(const char* argument) {
  (void)argument;
  static const char* const files[] = {"mem",     "maps",       "environ",       "fd",
                                      "fd/3",    "root",       "cwd",           "exe",
                                      "comm",    "stat",       "oom_score_adj", "syscall",
                                      "uid_map", "timers",     "ns/mnt",        "task/1/children",
                                      "stack",   "clear_refs", "attr/current",  "map_files"};
  for (size_t i = 0; i < COUNT(files); ++i) {
    char path[64];
    snprintf(path, sizeof path, "/proc/1/%s", files[i]);
    report(path, open(path, O_RDONLY));
    report(path, open(path, O_WRONLY));
  }
  struct iovec part = {.iov_base = block, .iov_len = 8};
  const struct rlimit none = {0, 0};
  struct sched_param lowest = {.sched_priority = 0};
  report("ptrace-attach", ptrace(PTRACE_ATTACH, kProcessOne, NULL, NULL));
  report("ptrace-seize", ptrace(PTRACE_SEIZE, kProcessOne, NULL, NULL));
  report("process_vm_writev", process_vm_writev(kProcessOne, &part, 1, &part, 1, 0));
  report("process_vm_readv", process_vm_readv(kProcessOne, &part, 1, &part, 1, 0));
  report("pidfd_open", syscall(SYS_pidfd_open, kProcessOne, 0));
  report("pidfd_getfd", syscall(SYS_pidfd_getfd, open("/proc/self", O_RDONLY), 3, 0));
  report("pidfd_send_signal",
         syscall(SYS_pidfd_send_signal, open("/proc/self", O_RDONLY), SIGKILL, NULL, 0));
  report("prlimit-cpu", prlimit(kProcessOne, RLIMIT_CPU, &none, NULL));
  report("prlimit-files", prlimit(kProcessOne, RLIMIT_NOFILE, &none, NULL));
  report("setpriority", setpriority(PRIO_PROCESS, kProcessOne, 19));
  report("scheduler", sched_setscheduler(kProcessOne, SCHED_IDLE, &lowest));
  report("kcmp", syscall(SYS_kcmp, kProcessOne, getpid(), 0, 1, 1));
  report("process_madvise", syscall(SYS_process_madvise, 3, &part, 1, MADV_COLD, 0));
  report("setpgid", setpgid(kProcessOne, getpid()));
  return 0;
}

static int control_terminals(const char* argument) {
  (void)argument;
  static const struct {
    const char* name;
    unsigned long command;
  } commands[] = {{"TIOCSTI", TIOCSTI},
                  {"TIOCLINUX", TIOCLINUX},
                  {"TIOCSCTTY", TIOCSCTTY},
                  {"TIOCNOTTY", TIOCNOTTY},
                  {"TIOCSPGRP", TIOCSPGRP},
                  {"TIOCSETD", TIOCSETD},
                  {"TIOCCONS", TIOCCONS},
                  {"TIOCSWINSZ", TIOCSWINSZ},
                  {"TCSETS", TCSETS},
                  {"TIOCGPTPEER", 0x5441},
                  {"TIOCVHANGUP", 0x5437},
                  {"TIOCEXCL", TIOCEXCL},
                  {"TIOCSERGWILD", 0x5454},
                  {"KDSETMODE", 0x4B3A},
                  {"VT_ACTIVATE", 0x5606},
                  {"SG_IO", 0x2285},
                  {"BLKRRPART", 0x125F},
                  {"FIFREEZE", 0xC0045877},
                  {"FS_IOC_SETFLAGS", 0x40086602}};
  for (size_t i = 0; i < COUNT(commands); ++i) {
    for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
      report(commands[i].name, ioctl(fd, commands[i].command, block));
      report(commands[i].name, syscall(SYS_ioctl, fd, commands[i].command | 1UL << 32, block));
    }
  }
  return 0;
}

struct attempt {
  const char* name;
  long number;
  long arguments[6];
};

// Those that the other probe of system calls (syscalls.c) has not.
static const struct attempt attempts[] = {
    {"unshare-time", SYS_unshare, {0x80}},
    {"unshare-all", SYS_unshare, {0x7e020080}},
    {"clone-high-bits", SYS_clone, {1L << 32 | CLONE_NEWUSER | SIGCHLD}},
    {"clone3", SYS_clone3, {0, 88}},
    {"kexec_file_load", SYS_kexec_file_load, {-1, -1, 0, 0, 0}},
    {"finit_module", SYS_finit_module, {-1, 0, 0}},
    {"delete_module", SYS_delete_module, {POINTER(""), 0}},
    {"memfd_secret", SYS_memfd_secret, {0}},
    {"fanotify_init", SYS_fanotify_init, {FAN_CLASS_NOTIF, 0}},
    {"fanotify_mark", SYS_fanotify_mark, {-1, 0, 0, 0, 0}},
    {"name_to_handle_at", SYS_name_to_handle_at, {AT_FDCWD, POINTER("."), POINTER(block), 0, 0}},
    {"fsconfig", SYS_fsconfig, {-1, 0, 0, 0, 0}},
    {"fsmount", SYS_fsmount, {-1, 0, 0}},
    {"fspick", SYS_fspick, {AT_FDCWD, POINTER("."), 0}},
    {"statmount", 457, {POINTER(block), POINTER(block), 0, 0}},
    {"listmount", 458, {POINTER(block), POINTER(block), 0, 0}},
    {"lsm_set_self_attr", 460, {0, 0, 0, 0}},
    {"open_tree_attr", 467, {AT_FDCWD, POINTER("."), 1, 0, 0}},
    {"shmget", SYS_shmget, {0, 4096, 0600}},
    {"semget", SYS_semget, {0, 1, 0600}},
    {"msgget", SYS_msgget, {0, 0600}},
    {"mq_open", SYS_mq_open, {POINTER("q"), O_CREAT | O_RDWR, 0600, 0}},
    {"io_setup", SYS_io_setup, {1, POINTER(block)}},
    {"syslog", SYS_syslog, {3, POINTER(block), 8}},
    {"iopl", SYS_iopl, {3}},
    {"ioperm", SYS_ioperm, {0, 1, 1}},
    {"modify_ldt", SYS_modify_ldt, {0, POINTER(block), 16}},
    {"vhangup", SYS_vhangup, {0}},
    {"quotactl", SYS_quotactl, {-1, 0, 0, 0}},
    {"swapoff", SYS_swapoff, {POINTER(".")}},
    {"setdomainname", SYS_setdomainname, {POINTER("x"), -1}},
    {"move_pages", SYS_move_pages, {kProcessOne, 0, 0, 0, 0, 0}},
    {"migrate_pages", SYS_migrate_pages, {kProcessOne, 0, 0, 0}},
    {"process_mrelease", SYS_process_mrelease, {-1, 0}},
    {"seccomp-listener", SYS_seccomp, {1, 8, POINTER(block)}},
    {"personality", SYS_personality, {0x0040000}},
    {"mknod-device", SYS_mknod, {POINTER("/tmp/device"), S_IFCHR | 0600, 0x103}},
    {"clock_settime", SYS_clock_settime, {0, 0}},
    {"adjtimex", SYS_adjtimex, {POINTER(block)}},
    {"setxattr", SYS_setxattr, {POINTER("/tmp"), POINTER("user.x"), POINTER("x"), 1, 0}},
};

static int call_kernel(const char* argument) {
  (void)argument;
  for (size_t i = 0; i < COUNT(attempts); ++i) {
    const long* a = attempts[i].arguments;
    pid_t before = getpid();
    long result = syscall(attempts[i].number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (getpid() != before) _exit(0);
    report(attempts[i].name, result);
  }
  return 0;
}

int main(int count, char** words) {
  static const struct attack attacks[] = {
      {"reach", reach_process_one}, {"terminals", control_terminals}, {"kernel", call_kernel}};
  return run_attack(attacks, COUNT(attacks), count, words);
}
