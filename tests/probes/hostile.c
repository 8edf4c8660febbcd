// A guest that attacks with its own processes: signals, numbers of them, stops, programs.
//
// Usage: hostile ATTACK [ARGUMENT]   See the table at the end, and hostile.h.

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "hostile.h"

enum { kOrphans = 20, kStormChildren = 40 };

static char block[16384];

// Fills its own queue of pending signals, and process 1's. With "stay" it then has to be killed.
static int fill_signal_queue(const char* argument) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  union sigval value = {0};
  long queued = 0;
  while (queued < 1000000 && sigqueue(getpid(), SIGRTMIN, value) == 0)
    ++queued;
  report("own", -1);
  report_number("queued", queued);
  int result = 0;
  for (int i = 0; i < 10000 && result == 0; ++i)
    result = sigqueue(kProcessOne, SIGRTMAX, value);
  report("one", result);
  kill(kProcessOne, kTerminateAll);
  if (argument != NULL) stay();
  return 7;
}

static volatile sig_atomic_t received;

static void count_signal(int number) {
  (void)number;
  ++received;
}

// Returns when process 1 has reaped some orphans one after the other, and so has looked at the
// signals that came before.
static void wait_for_process_one(void) {
  for (int i = 0; i < kOrphans; ++i) {
    int ends[2];
    if (pipe(ends) != 0) _exit(91);
    if (fork() == 0) {
      pid_t orphan = fork();
      if (orphan == 0) _exit(0);
      write_all(ends[1], (const char*)&orphan, sizeof orphan);
      _exit(0);
    }
    pid_t orphan = 0;
    if (read(ends[0], &orphan, sizeof orphan) != sizeof orphan) _exit(92);
    close(ends[0]);
    close(ends[1]);
    wait(NULL);
    while (kill(orphan, 0) == 0)
      sched_yield();
  }
}

// With every way of sending a signal, and with a sender that is not there.
static int signal_process_one(const char* argument) {
  (void)argument;
  for (int number = 1; number <= 64; ++number)
    if (number != SIGCHLD) signal(number, count_signal);
  for (int number = 1; number <= 64; ++number) {
    kill(kProcessOne, number);
    syscall(SYS_tkill, kProcessOne, number);
    syscall(SYS_tgkill, kProcessOne, kProcessOne, number);
    static const int codes[] = {SI_USER, SI_QUEUE, SI_KERNEL, SI_TKILL, SI_ASYNCNL};
    for (size_t i = 0; i < COUNT(codes); ++i) {
      siginfo_t info = {.si_signo = number, .si_code = codes[i]};  // its si_pid is 0
      syscall(SYS_rt_sigqueueinfo, kProcessOne, number, &info);
      syscall(SYS_rt_tgsigqueueinfo, kProcessOne, kProcessOne, number, &info);
    }
  }
  int ends[2];
  if (pipe(ends) != 0) return 93;
  fcntl(ends[0], F_SETOWN, kProcessOne);
  fcntl(ends[0], F_SETSIG, kTerminateAll);
  fcntl(ends[0], F_SETFL, O_ASYNC);
  write_all(ends[1], "x", 1);
  wait_for_process_one();
  report_number("received", received);
  return 8;
}

static int stop_everything(const char* argument) {
  (void)argument;
  for (int i = 0; i < 6; ++i) {
    if (fork() != 0) continue;
    if (i % 2 == 0) setsid();
    if (i % 3 == 0) setpgid(0, 0);
    for (;;)
      kill(0, SIGSTOP);
  }
  report_number("children", 6);
  kill(-1, SIGSTOP);
  for (;;)
    kill(0, SIGSTOP);
  return 0;
}

// A process that has another number, session and group each time one looks.
static void run_away(void) {
  for (;;) {
    pid_t next = fork();
    if (next > 0) _exit(0);
    if (next == 0 && setsid() < 0) setpgid(0, 0);
  }
}

static int storm(const char* argument) {
  (void)argument;
  ignore_all_signals();
  for (int i = 0; i < kStormChildren; ++i) {
    if (fork() != 0) continue;
    if (i % 2 == 0) run_away();
    setsid();
    stay();
  }
  report_number("children", kStormChildren);
  return 3;
}

static int use_everything_up(const char* argument) {
  (void)argument;
  for (;;) {
    pid_t child = fork();
    if (child < 0) break;
    if (child == 0) stay();
  }
  report("processes", -1);
  struct rlimit limit = {0, 0};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  while (dup(1) >= 0)
    continue;
  report("descriptors", -1);
  return 5;
}

// Copies itself to a file that stays open for writing, and executes that.
static void execute_what_is_written(void) {
  int from = open("/proc/self/exe", O_RDONLY);
  int to = open("/tmp/copy", O_WRONLY | O_CREAT | O_TRUNC, 0700);
  for (ssize_t count = 0; (count = read(from, block, sizeof block)) > 0;)
    write_all(to, block, (size_t)count);
  char* const arguments[] = {(char*)"copy", NULL};
  report("written", execv("/tmp/copy", arguments));
  report("write-self", open("/proc/self/exe", O_WRONLY));
}

// Executes itself `argument` times, and then changes what a process can change of itself.
static int execute_itself(const char* argument) {
  int left = argument != NULL ? atoi(argument) : 100;
  if (left > 0) {
    char text[16];
    snprintf(text, sizeof text, "%d", left - 1);
    char* const arguments[] = {(char*)"plimsoll-init", (char*)"execute", text, NULL};
    execv("/proc/self/exe", arguments);
    return 97;
  }
  execute_what_is_written();
  report("mm", prctl(PR_SET_MM, PR_SET_MM_BRK, block, 0, 0));
  report("mm-exe", prctl(PR_SET_MM, PR_SET_MM_EXE_FILE, 0, 0, 0));
  report("bounding-set", prctl(PR_CAPBSET_DROP, 0, 0, 0, 0));
  report("securebits", prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
  report("new-privileges", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
  report("seccomp", prctl(PR_SET_SECCOMP, 0, 0, 0, 0));
  prctl(PR_SET_NAME, "plimsoll-init", 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (fork() == 0) {
    if (fork() == 0) stay();  // an orphan that is ours in a moment
    _exit(0);
  }
  wait(NULL);
  return 6;
}

int main(int count, char** words) {
  static const struct attack attacks[] = {
      {"signal-queue", fill_signal_queue}, {"signal", signal_process_one},
      {"stop", stop_everything},           {"storm", storm},
      {"use-up", use_everything_up},       {"execute", execute_itself}};
  return run_attack(attacks, COUNT(attacks), count, words);
}
