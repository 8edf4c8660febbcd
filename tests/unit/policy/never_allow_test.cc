// What no shipped policy may ever allow, over all numbers, architectures and halves of arguments,
// asked of the programs themselves.

#include <asm/unistd.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <csignal>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "policy/calls.h"
#include "policy/interpret.h"
#include "unit/policy/policies.h"

namespace plimsoll::policy {
namespace {

constexpr std::uint64_t kHighHalves[] = {0, 1ULL << 32U, UINT64_MAX << 32U};

// Low halves at which rules of these policies change their answers, and ordinary ones.
constexpr std::uint64_t kLowHalves[] = {0,          1,          2,          3,          6,
                                        0x10,       SIGCHLD,    0x1000,     0x5412,     0x541c,
                                        0x7fffffff, 0x80000000, 0x7e020000, 0x10000011, 0xffffffff};

const std::set<std::uint32_t>& Denied() {
  static const std::set<std::uint32_t> numbers = [] {
    std::set<std::uint32_t> found;
    for (const std::string& name : NamesDeniedOnPurpose()) {
      const auto number = NumberOfCall(name);
      EXPECT_TRUE(number.has_value()) << name;
      found.insert(number.value_or(0));
    }
    return found;
  }();
  return numbers;
}

// Whether this x86-64 call must be refused under every policy, whatever a rule says.
bool MustBeRefused(const seccomp_data& data) {
  const auto number = static_cast<std::uint32_t>(data.nr);
  if (Denied().contains(number) || number > 450) return true;
  if (number == __NR_clone) return (data.args[0] & 0x7e020000) != 0;
  if (number == __NR_ioctl) {
    const auto command = static_cast<std::uint32_t>(data.args[1]);
    return command == TIOCSTI || command == TIOCLINUX;
  }
  return false;
}

std::vector<std::uint32_t> Numbers() {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; number <= 600; ++number) {
    numbers.push_back(number);
    numbers.push_back(number | 0x40000000U);
  }
  for (const std::uint32_t number : {0x3fffffffU, 0x7fffffffU, 0x80000000U, UINT32_MAX})
    numbers.push_back(number);
  return numbers;
}

// Every pair of values in the first two arguments, and the first one's in the others.
void ForArguments(const std::function<void(const Arguments&)>& work) {
  for (const std::uint64_t high : kHighHalves) {
    for (const std::uint64_t low : kLowHalves) {
      for (const std::uint64_t other : kLowHalves) {
        work({high | low, high | other, high | low, high | low, high | low, high | low});
      }
    }
  }
}

class NeverAllowed : public testing::TestWithParam<Names> {
 protected:
  bool IsAllowed(const seccomp_data& data) const {
    const auto answer = Interpret(policy_.program, data);
    EXPECT_TRUE(answer.has_value()) << data.nr;
    return !answer || LetsPass(answer->action);
  }

  const Policy policy_ = *Compile(SourceOf(GetParam()));
};

TEST_P(NeverAllowed, NoCallThatIsDeniedOnPurpose) {
  for (const std::uint32_t number : Numbers()) {
    ForArguments([&](const Arguments& arguments) {
      const seccomp_data data = Call(number, arguments);
      ASSERT_FALSE(MustBeRefused(data) && IsAllowed(data)) << number;
    });
  }
}

TEST_P(NeverAllowed, NoCallOfAnotherArchitecture) {
  for (const std::uint32_t arch :
       {std::uint32_t{AUDIT_ARCH_I386}, std::uint32_t{AUDIT_ARCH_AARCH64}}) {
    for (const std::uint32_t number : Numbers()) {
      for (const std::uint64_t high : kHighHalves) {
        for (const std::uint64_t low : kLowHalves) {
          const std::uint64_t value = high | low;
          seccomp_data data = Call(number, {value, value, value, value, value, value});
          data.arch = arch;
          ASSERT_FALSE(IsAllowed(data)) << arch << " " << number;
        }
      }
    }
  }
}

TEST_P(NeverAllowed, NoNamespaceFlagBesideAnyOther) {
  constexpr std::uint64_t kFlags[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                      CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
  for (const std::uint64_t flag : kFlags) {
    for (std::uint64_t beside = 1; beside != 0; beside <<= 1U) {
      for (const std::uint64_t high : kHighHalves)
        ASSERT_FALSE(IsAllowed(Call(__NR_clone, {high | flag | beside, 0, 0, 0, 0, 0})));
    }
  }
}

// A stream over IPv4, the kernel's own protocol or TCP, nothing set but SOCK_NONBLOCK (04000) and
// SOCK_CLOEXEC (02000000). The kernel looks at the low half of the type.
bool IsTcpStream(const Arguments& arguments) {
  return arguments[0] == AF_INET && (arguments[1] & 0xffffffff & ~02004000ULL) == SOCK_STREAM &&
         (arguments[2] == 0 || arguments[2] == 6);
}

TEST_P(NeverAllowed, NoSocketButUnixOnesAndForTheSdkTcpStreams) {
  const bool has_sdk = !GetParam().empty() && GetParam().back() == "sdk";
  for (std::uint64_t family = 0; family < 64; ++family) {
    for (const std::uint64_t high : kHighHalves) {
      for (std::uint64_t type = 0; type <= SOCK_PACKET; ++type) {
        for (const std::uint64_t flags :
             {0UL, 04000UL, 02000000UL, 02004000UL, 0x10UL, 1UL << 31U}) {
          for (const std::uint64_t protocol : {0UL, 6UL, 17UL, 132UL, 255UL, 262UL, 1UL << 32U}) {
            const Arguments arguments = {high | family, high | type | flags, protocol, 0, 0, 0};
            const bool is_unix = arguments[0] == AF_UNIX;
            const bool is_tcp = has_sdk && IsTcpStream(arguments);
            ASSERT_EQ(IsAllowed(Call(__NR_socket, arguments)), is_unix || is_tcp)
                << family << " " << type << " " << flags << " " << protocol;
            ASSERT_EQ(IsAllowed(Call(__NR_socketpair, arguments)), is_unix) << family;
          }
        }
      }
    }
  }
}

std::string NameOf(const testing::TestParamInfo<Names>& test) {
  constexpr std::array kNames = {"Default", "RwVolume", "Sdk", "Both"};
  return kNames.at(test.index);
}

INSTANTIATE_TEST_SUITE_P(Policies, NeverAllowed, testing::ValuesIn(DifferenceSets()), NameOf);

}  // namespace
}  // namespace plimsoll::policy
