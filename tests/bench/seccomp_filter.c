// The filter that a user of bubblewrap makes: libseccomp's, as it exports one by default.
//
// Usage: seccomp_filter < NAMES > FILTER
// NAMES are system calls, one a line, that are allowed; every other answers EPERM.
#include <err.h>
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  const scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (context == NULL) errx(125, "seccomp_init");
  char name[64];
  while (fgets(name, sizeof name, stdin) != NULL) {
    name[strcspn(name, "\n")] = 0;
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR) continue;  // newer than this libseccomp
    const int error = seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 0);
    if (error < 0) errx(125, "%s: %s", name, strerror(-error));
  }
  const int error = seccomp_export_bpf(context, STDOUT_FILENO);
  if (error < 0) errx(125, "seccomp_export_bpf: %s", strerror(-error));
  return 0;
}
