// The kernel and the interpreter, asked the same about every rule of every shipped policy.
//
// A child loads the policy's program with one change: what it would allow gets an errno that no
// kernel gives, so that no call is really made and any arguments may be tried.

#include <asm/unistd.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policy/calls.h"
#include "policy/guard.h"
#include "policy/interpret.h"
#include "unit/policy/policies.h"

namespace plimsoll::policy {
namespace {

constexpr int kLetThrough = 4001;             // instead of making the call
constexpr std::uint32_t kEndOfProbes = 0x77;  // the one exit status with which the child may end

struct Probe {
  std::uint32_t number;
  Arguments arguments;
};

// The program with its permissions taken away, behind a door through which the child ends.
Program WithoutPermissions(std::span<const sock_filter> program) {
  Program probing = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kEndOfProbes, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  for (sock_filter op : program) {
    if (op.code == (BPF_RET | BPF_K) && op.k == SECCOMP_RET_ALLOW) op.k = Refuse(kLetThrough);
    probing.push_back(op);
  }
  return probing;
}

// Later kernels gave these to uretprobe and uprobe, which no filter sees: outside of their probes
// they end the caller.
constexpr std::uint32_t kPastAnyFilter[] = {335, 336};

// In the child: makes every call and notes the errno. Calls no function that needs a call of its
// own once the filter is there.
[[noreturn]] void RunProbes(const Program& program, std::span<const Probe> probes, int* errnos) {
  const sock_fprog filter = {static_cast<unsigned short>(program.size()),
                             const_cast<sock_filter*>(program.data())};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) {
    ::_exit(1);
  }
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const auto& a = probes[i].arguments;
    const long result = ::syscall(static_cast<long>(static_cast<int>(probes[i].number)), a[0], a[1],
                                  a[2], a[3], a[4], a[5]);
    errnos[i] = result == -1 ? errno : 0;
  }
  for (;;)
    ::syscall(__NR_exit_group, kEndOfProbes);
}

// The errno of each probe under the kernel; fails the test when they did not all run.
std::vector<int> AskKernel(const Program& program, std::span<const Probe> probes) {
  const std::size_t size = probes.size() * sizeof(int);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  if (memory == MAP_FAILED) return {};
  const pid_t child = ::fork();
  if (child == 0) RunProbes(program, probes, static_cast<int*>(memory));
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kEndOfProbes) << status;
  const auto* errnos = static_cast<int*>(memory);
  std::vector<int> answers(errnos, errnos + probes.size());
  ::munmap(memory, size);
  return answers;
}

int ErrnoFor(std::uint32_t action) {
  return action == SECCOMP_RET_ALLOW ? kLetThrough : static_cast<int>(action & SECCOMP_RET_DATA);
}

class KernelRules : public testing::TestWithParam<Names> {
 protected:
  // Compares kernel and interpreter; `probes` are not empty.
  void ExpectTheSame(std::vector<Probe> probes) const {
    std::erase_if(probes, [](const Probe& probe) {
      return std::find(std::begin(kPastAnyFilter), std::end(kPastAnyFilter), probe.number) !=
             std::end(kPastAnyFilter);
    });
    const std::vector<int> answers = AskKernel(WithoutPermissions(policy_.program), probes);
    ASSERT_EQ(answers.size(), probes.size());
    for (std::size_t i = 0; i < probes.size(); ++i) {
      const auto answer = Interpret(policy_.program, Call(probes[i].number, probes[i].arguments));
      ASSERT_TRUE(answer.has_value());
      ASSERT_EQ(answers[i], ErrnoFor(answer->action))
          << NameOfCall(probes[i].number) << " " << probes[i].number << " "
          << testing::PrintToString(probes[i].arguments);
    }
  }

  const Source source_ = SourceOf(GetParam());
  const Policy policy_ = *Compile(source_);
  const Verdicts verdicts_ = Stack(Guard(), VerdictsFor(source_));
};

// Two kinds of calls for each rule: those that it decides and those that it does not.
TEST_P(KernelRules, DecideAsTheInterpreterSaysWhereTheyHoldAndWhereTheyDoNot) {
  std::vector<Probe> probes;
  std::size_t rules = 0;
  for (std::uint32_t number = 0; number < 600; ++number) {
    const Decision& decision = verdicts_.At(number);
    const std::set<Arguments> telling = TellingArguments(decision);
    for (const Arguments& arguments : telling)
      probes.push_back({number, arguments});
    for (const Rule& rule : decision.rules) {
      ++rules;
      const auto decides = [&](const Arguments& arguments) {
        return DecidingRule(verdicts_, Call(number, arguments)) == &rule;
      };
      EXPECT_TRUE(std::any_of(telling.begin(), telling.end(), decides)) << NameOfCall(number);
      EXPECT_FALSE(std::all_of(telling.begin(), telling.end(), decides)) << NameOfCall(number);
    }
  }
  EXPECT_GT(rules, 0);
  ExpectTheSame(std::move(probes));
}

TEST_P(KernelRules, OfTheProfileAreAllAmongThem) {
  for (const ProfileEntry& entry : source_.profile.entries) {
    for (const std::string& name : entry.names) {
      const auto number = NumberOfCall(name);
      if (!number || Guard().At(*number).otherwise != SECCOMP_RET_ALLOW) continue;
      const Decision& decision = verdicts_.At(*number);
      const bool is_there = entry.rule.tests.empty()
                                ? decision.otherwise == entry.rule.action
                                : std::find(decision.rules.begin(), decision.rules.end(),
                                            entry.rule) != decision.rules.end();
      EXPECT_TRUE(is_there) << name;
    }
  }
}

TEST_P(KernelRules, BeginAndEndAtTheNumbersWhereTheInterpreterSaysSo) {
  std::vector<Probe> probes;
  for (const auto& [first, decision] : verdicts_.Ranges()) {
    for (const std::uint32_t number : {first - 1, first, first + 1}) {
      probes.push_back({number, {}});
      probes.push_back({number, {1, 1, 1, 1, 1, 1}});
      probes.push_back({number | 0x40000000U, {}});
    }
  }
  for (const std::uint32_t number : {0x3fffffffU, 0x7fffffffU, 0x80000000U, UINT32_MAX})
    probes.push_back({number, {}});
  ExpectTheSame(std::move(probes));
}

std::string NameOf(const testing::TestParamInfo<Names>& test) {
  constexpr std::array kNames = {"Default", "RwVolume", "Sdk", "Both"};
  return kNames.at(test.index);
}

INSTANTIATE_TEST_SUITE_P(Policies, KernelRules, testing::ValuesIn(DifferenceSets()), NameOf);

}  // namespace
}  // namespace plimsoll::policy
