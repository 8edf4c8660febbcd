#include "policy/check.h"

#include <asm/unistd.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/text.h"
#include "policy/calls.h"
#include "policy/describe.h"
#include "policy/guard.h"
#include "policy/interpret.h"

namespace plimsoll::policy {
namespace {

// Refused by the guard with ENOSYS and not only for being new: each is a way out or around.
constexpr std::array kDangerousNewCalls = {
    __NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register, __NR_open_tree,
    __NR_move_mount,     __NR_fsopen,         __NR_fsconfig,          __NR_fsmount,
    __NR_fspick,         __NR_clone3,         __NR_pidfd_getfd,       __NR_mount_setattr};

bool Allows(std::uint32_t action) {
  const std::uint32_t kind = action & SECCOMP_RET_ACTION_FULL;
  return kind == SECCOMP_RET_ALLOW || kind == SECCOMP_RET_LOG;
}

// With some arguments.
bool MayAllow(const Decision& decision) {
  return Allows(decision.otherwise) ||
         std::any_of(decision.rules.begin(), decision.rules.end(),
                     [](const Rule& rule) { return Allows(rule.action); });
}

using Arguments = std::array<std::uint64_t, 6>;

// Arguments with which the rules of a decision are likely to hold, one set a rule, and none at all:
// what a profile tests beside the argument that is asked about must not hide it.
std::vector<Arguments> TellingArguments(const Decision& decision) {
  std::vector<Arguments> found = {Arguments{}};
  for (const Rule& rule : decision.rules) {
    Arguments arguments{};
    for (const ArgTest& test : rule.tests) {
      const bool is_equality = test.comparison == Comparison::kEqual;
      if (test.comparison == Comparison::kGreater && !test.negated) {
        arguments[test.index] = test.value + 1;
      } else if (is_equality && test.negated) {
        arguments[test.index] = ~test.value;
      } else if (is_equality || !test.negated) {
        arguments[test.index] = test.value;
      }
    }
    found.push_back(arguments);
  }
  return found;
}

class Checker {
 public:
  Checker(const Source& source, bool is_foreign) : source_(source), is_foreign_(is_foreign) {}

  std::vector<Finding> Run() {
    if (Allows(source_.profile.default_action)) {
      Wrong("allows by default: a system call that it does not name is let through");
    }
    if (!is_foreign_) {
      if (const auto strict = VerdictsOf(source_, Reading::kStrict); !strict) {
        Wrong(strict.error().Message());
      }
    }
    const auto verdicts = VerdictsOf(source_);
    if (!verdicts) {
      Wrong(verdicts.error().Message());
      return std::move(findings_);
    }
    CheckCalls(*verdicts);
    CheckClone(*verdicts);
    CheckSockets(*verdicts);
    CheckRules();
    return std::move(findings_);
  }

 private:
  void Wrong(std::string text) { findings_.push_back({Severity::kWrong, std::move(text)}); }

  // Wrong in a profile of ours; in a foreign one the guard sees to it.
  void Guarded(const std::string& text) {
    if (!is_foreign_) return Wrong(text);
    findings_.push_back({Severity::kNote, text + "; the guard refuses it in every run"});
  }

  void CheckCalls(const Verdicts& verdicts) {
    const Verdicts guard = Guard();
    std::map<std::string_view, std::string> allowed;  // the guard's reason: names
    for (const std::string_view name : CallNames()) {
      const std::uint32_t number = *NumberOfCall(name);
      const std::uint32_t refusal = guard.At(number).otherwise;
      const bool is_dangerous = refusal == Refuse(EPERM) ||
                                std::find(kDangerousNewCalls.begin(), kDangerousNewCalls.end(),
                                          static_cast<int>(number)) != kDangerousNewCalls.end();
      if (!is_dangerous || !MayAllow(verdicts.At(number))) continue;
      std::string& names = allowed[GuardReason(number)];
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    for (const auto& [reason, names] : allowed)
      Guarded("allows " + names + " (" + std::string(reason) + ")");
  }

  void CheckClone(const Verdicts& verdicts) {
    for (const NamespaceFlag& flag : kNamespaceFlags) {
      if (AllowsFlag(verdicts, flag.value)) Guarded("allows clone with " + std::string(flag.name));
    }
  }

  // By itself and beside the flags that rules name, each with the high half of the argument both
  // clear and set: the kernel does not look at it.
  static bool AllowsFlag(const Verdicts& verdicts, std::uint64_t flag) {
    for (Arguments arguments : TellingArguments(verdicts.At(__NR_clone))) {
      for (const std::uint64_t others : {std::uint64_t{0}, arguments[0]}) {
        for (const std::uint64_t high : kHighHalves) {
          arguments[0] = high | others | flag;
          if (Allows(Decide(verdicts, Call(__NR_clone, arguments)))) return true;
        }
      }
    }
    return false;
  }

  void CheckSockets(const Verdicts& verdicts) {
    std::string families;
    for (std::uint64_t family = 0; family < AF_MAX; ++family) {
      if (family == AF_UNIX || !AllowsFamily(verdicts, family)) continue;
      families += (families.empty() ? "" : ", ") + std::to_string(family);
    }
    if (families.empty()) return;
    const std::string text = "allows sockets of other families than AF_UNIX: " + families;
    if (!is_foreign_) return Wrong(text);
    findings_.push_back({Severity::kNote, text + "; of these the guard lets AF_INET and AF_INET6 "
                                                 "pass, whose network is the loopback alone"});
  }

  // What the difference "sdk" is for: a stream over IPv4, TCP or the kernel's choice, which is
  // that.
  bool IsSdkStream(const seccomp_data& call) const {
    const auto& names = source_.differences;
    constexpr std::uint64_t kFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;
    return std::find(names.begin(), names.end(), "sdk") != names.end() && call.nr == __NR_socket &&
           call.args[0] == AF_INET && (call.args[1] & ~kFlags & UINT32_MAX) == SOCK_STREAM &&
           (call.args[2] == 0 || call.args[2] == IPPROTO_TCP);
  }

  bool AllowsSocket(const Verdicts& verdicts, std::uint32_t number,
                    const Arguments& arguments) const {
    const seccomp_data call = Call(number, arguments);
    return Allows(Decide(verdicts, call)) && !IsSdkStream(call);
  }

  bool AllowsFamily(const Verdicts& verdicts, std::uint64_t family) const {
    for (const std::uint32_t call : {std::uint32_t{__NR_socket}, std::uint32_t{__NR_socketpair}}) {
      for (Arguments arguments : TellingArguments(verdicts.At(call))) {
        const std::uint64_t named = arguments[1];
        for (const std::uint64_t high : kHighHalves) {
          arguments[0] = high | family;
          for (std::uint64_t type = 0; type <= SOCK_PACKET; ++type) {
            arguments[1] = type;
            if (AllowsSocket(verdicts, call, arguments)) return true;
          }
          arguments[1] = named;
          if (AllowsSocket(verdicts, call, arguments)) return true;
        }
      }
    }
    return false;
  }

  void CheckRules() {
    if (!source_.unknown_calls.empty()) {
      std::string names;
      for (const std::string& name : source_.unknown_calls)
        names += (names.empty() ? "" : ", ") + Quote(name);
      findings_.push_back(
          {Severity::kNote, "names that x86-64 has no system call of are passed over: " + names});
    }
    if (is_foreign_) return;
    for (const CallRule& rule : RulesOf(source_.profile)) {
      const std::uint32_t kind = rule.action & SECCOMP_RET_ACTION_FULL;
      if (kind == SECCOMP_RET_ALLOW || kind == SECCOMP_RET_ERRNO) continue;
      Wrong("rule for " + rule.call + " has the action " + std::string(ActionName(rule.action)) +
            ": expected SCMP_ACT_ALLOW or SCMP_ACT_ERRNO");
    }
  }

  static constexpr std::array<std::uint64_t, 3> kHighHalves = {0, 1ULL << 32U, UINT64_MAX << 32U};

  const Source& source_;
  bool is_foreign_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> Check(const Source& source, bool is_foreign) {
  return Checker(source, is_foreign).Run();
}

}  // namespace plimsoll::policy
