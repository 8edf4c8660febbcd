// Tries single system calls, each in a process of its own, and prints a line each: its name and
// what came of it: "ok", the errno's name, or "signal N".
//
// Usage: syscalls [NAME...]   Without names, all of them. The arguments are such that an unfiltered
// kernel changes nothing.

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct attempt {
  const char* name;
  long number;
  long arguments[6];
};

static char buffer[4096];
static const char dot[] = ".";
static unsigned long how[3];  // struct open_how: read only, resolve anything
static struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event};

#define POINTER(x) (long)(uintptr_t)(x)

static const struct attempt attempts[] = {
    {"clone3", SYS_clone3, {0}},
    {"number-9999", 9999, {0}},
    {"number-4294967295", 0xffffffffL, {0}},
    {"x32-getpid", 0x40000000L + SYS_getpid, {0}},
    {"io_uring_setup", SYS_io_uring_setup, {0}},
    {"io_uring_enter", SYS_io_uring_enter, {-1}},
    {"io_uring_register", SYS_io_uring_register, {-1}},
    {"openat2", SYS_openat2, {AT_FDCWD, POINTER(dot), POINTER(how), sizeof how}},
    {"faccessat2", SYS_faccessat2, {AT_FDCWD, POINTER(dot), 0, 0}},
    {"statx", SYS_statx, {AT_FDCWD, POINTER(dot), 0, 0x7ff, POINTER(buffer)}},
    {"rseq", SYS_rseq, {POINTER(buffer), 32, 0, 0x53053053}},
    {"membarrier", SYS_membarrier, {0}},
    {"getrandom", SYS_getrandom, {POINTER(buffer), 16, 0}},
    {"unshare-user", SYS_unshare, {CLONE_NEWUSER}},
    {"unshare-mount", SYS_unshare, {CLONE_NEWNS}},
    {"unshare-net", SYS_unshare, {CLONE_NEWNET}},
    {"clone-user", SYS_clone, {CLONE_NEWUSER | SIGCHLD}},
    {"clone-mount", SYS_clone, {CLONE_NEWNS | SIGCHLD}},
    {"clone-pid", SYS_clone, {CLONE_NEWPID | SIGCHLD}},
    {"clone-net", SYS_clone, {CLONE_NEWNET | SIGCHLD}},
    {"clone-ipc", SYS_clone, {CLONE_NEWIPC | SIGCHLD}},
    {"clone-uts", SYS_clone, {CLONE_NEWUTS | SIGCHLD}},
    {"clone-cgroup", SYS_clone, {CLONE_NEWCGROUP | SIGCHLD}},
    {"mount", SYS_mount, {POINTER("none"), POINTER("/none"), POINTER("tmpfs"), 0, 0}},
    {"umount2", SYS_umount2, {POINTER("/none"), 2}},
    {"pivot_root", SYS_pivot_root, {POINTER(dot), POINTER(dot)}},
    {"chroot", SYS_chroot, {POINTER(dot)}},
    {"open_tree", SYS_open_tree, {AT_FDCWD, POINTER(dot), 1}},
    {"fsopen", SYS_fsopen, {POINTER("tmpfs"), 0}},
    {"move_mount", SYS_move_mount, {AT_FDCWD, POINTER(dot), AT_FDCWD, POINTER(dot), 0}},
    {"mount_setattr", SYS_mount_setattr, {AT_FDCWD, POINTER(dot), 0, POINTER(buffer), 32}},
    {"ptrace", SYS_ptrace, {0, 0, 0, 0}},
    {"bpf", SYS_bpf, {0, POINTER(buffer), 64}},
    {"keyctl", SYS_keyctl, {KEYCTL_GET_KEYRING_ID, -3, 0}},
    {"add_key", SYS_add_key, {POINTER("user"), POINTER("x"), POINTER("x"), 1, -3}},
    {"request_key", SYS_request_key, {POINTER("user"), POINTER("x"), 0, 0}},
    {"perf_event_open", SYS_perf_event_open, {POINTER(&event), 0, -1, -1, 0}},
    {"userfaultfd", SYS_userfaultfd, {1}},
    {"kexec_load", SYS_kexec_load, {0, 0, 0, 0}},
    {"open_by_handle_at", SYS_open_by_handle_at, {AT_FDCWD, POINTER(buffer), 0}},
    {"process_vm_readv", SYS_process_vm_readv, {1, 0, 0, 0, 0, 0}},
    {"process_vm_writev", SYS_process_vm_writev, {1, 0, 0, 0, 0, 0}},
    {"setns", SYS_setns, {0, 0}},
    {"init_module", SYS_init_module, {0, 0, POINTER("")}},
    {"reboot", SYS_reboot, {0, 0, 0}},
    {"swapon", SYS_swapon, {POINTER(dot), 0}},
    {"acct", SYS_acct, {POINTER(dot)}},
    {"settimeofday", SYS_settimeofday, {0, 0}},
    {"sethostname", SYS_sethostname, {POINTER("x"), -1}},
    {"pidfd_getfd", SYS_pidfd_getfd, {-1, 0, 0}},
    {"socket-packet", SYS_socket, {AF_PACKET, SOCK_RAW, 0}},
    {"socket-netlink", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}},
    {"socket-vsock", SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}},
    {"socket-alg", SYS_socket, {AF_ALG, SOCK_SEQPACKET, 0}},
    {"socket-bluetooth", SYS_socket, {31, SOCK_RAW, 0}},
    {"socket-inet", SYS_socket, {AF_INET, SOCK_STREAM, 0}},
    {"socket-inet6", SYS_socket, {AF_INET6, SOCK_STREAM, 0}},
    {"socket-inet-raw", SYS_socket, {AF_INET, SOCK_RAW, 1}},
    {"socket-unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}},
    {"tiocsti", SYS_ioctl, {0, 0x5412, POINTER(dot)}},
    {"tioclinux", SYS_ioctl, {0, 0x541C, POINTER(buffer)}},
};

// In a child, and what its end tells. A call that makes a child itself has to end that one too.
static void try_one(const struct attempt* attempt) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    const long* a = attempt->arguments;
    pid_t before = getpid();
    long result = syscall(attempt->number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (getpid() != before) _exit(0);
    _exit(result < 0 ? errno : 0);
  }
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    printf("%s signal %d\n", attempt->name, WTERMSIG(status));
  } else {
    printf("%s %s\n", attempt->name,
           WEXITSTATUS(status) == 0 ? "ok" : strerrorname_np(WEXITSTATUS(status)));
  }
  fflush(stdout);
}

static int is_wanted(const char* name, int count, char** names) {
  for (int i = 1; i < count; ++i) {
    if (strcmp(names[i], name) == 0) return 1;
  }
  return count == 1;
}

int main(int count, char** names) {
  for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; ++i) {
    if (is_wanted(attempts[i].name, count, names)) try_one(&attempts[i]);
  }
  return 0;
}
