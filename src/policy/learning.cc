#include <asm/unistd.h>
#include <linux/seccomp.h>

#include "policy/calls.h"
#include "policy/interpret.h"
#include "policy/policy.h"

namespace plimsoll::policy {
namespace {

// What init's child calls between the filter and the guest's program (init/guest.cc).
constexpr std::uint32_t kStartCalls[] = {__NR_mmap, __NR_rt_sigprocmask, __NR_execve, __NR_statx};

bool IsErrno(std::uint32_t action) {
  return (action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
}

}  // namespace

Result<Program> LearningProgram(std::span<const sock_filter> program) {
  for (const std::uint32_t number : kStartCalls) {
    const auto answer = Interpret(program, Call(number));
    if (answer && !IsErrno(answer->action)) continue;
    return Error{.kind = ErrorKind::kRequest,
                 .what = "the policy refuses " + std::string(NameOfCall(number)) +
                         ", without which no command can be started"};
  }
  Program learning(program.begin(), program.end());
  for (sock_filter& op : learning) {
    if (op.code == (BPF_RET | BPF_K) && IsErrno(op.k)) op.k = SECCOMP_RET_USER_NOTIF;
  }
  return learning;
}

}  // namespace plimsoll::policy
