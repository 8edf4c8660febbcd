// What the hostile guests share: how they report, stay and choose an attack.
#pragma once

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define POINTER(x) (long)(uintptr_t)(x)
#define COUNT(x) (sizeof(x) / sizeof(x)[0])

enum { kProcessOne = 1, kTerminateAll = 40 };

struct attack {
  const char* name;
  int (*act)(const char* argument);  // the exit code
};

// One attempt on a line of its own: its name, and "ok" or the errno's name.
static inline void report(const char* name, long result) {
  printf("%s %s\n", name, result >= 0 ? "ok" : strerrorname_np(errno));
  fflush(stdout);
}

static inline void report_number(const char* name, long number) {
  printf("%s %ld\n", name, number);
  fflush(stdout);
}

// Without pause(2), which the default policy refuses.
__attribute__((noreturn)) static inline void stay(void) {
  for (;;)
    poll(NULL, 0, -1);
}

static inline void ignore_all_signals(void) {
  for (int number = 1; number <= 64; ++number)
    signal(number, SIG_IGN);
}

static inline void write_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    ssize_t count = write(fd, bytes, size);
    if (count > 0) {
      bytes += count;
      size -= (size_t)count;
    } else if (errno == EAGAIN) {
      struct pollfd writable = {.fd = fd, .events = POLLOUT};
      poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      _exit(90);
    }
  }
}

// "PROGRAM ATTACK [ARGUMENT]": the exit code of the attack, 99 when there is none of that name.
static inline int run_attack(const struct attack* attacks, size_t size, int count, char** words) {
  for (size_t i = 0; count > 1 && i < size; ++i) {
    if (strcmp(attacks[i].name, words[1]) == 0) return attacks[i].act(count > 2 ? words[2] : NULL);
  }
  return 99;
}
