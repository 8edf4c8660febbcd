// The init program by itself, started on arbitrary plans in namespaces of its own.
//
// Whatever the plan, it ends by itself, with one failed step or a program that was not executed.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <random>

#include "init/wire.h"
#include "plan/plan_reader.h"
#include "plan/plan_writer.h"
#include "support/process.h"
#include "support/temp_dir.h"
#include "sys/file.h"

namespace plimsoll::init {
namespace {

using testing_support::Command;
using testing_support::Outcome;
using testing_support::RunCommand;
using testing_support::TempDir;

constexpr int kSetupFailed = 125;
constexpr const char* kNoProgram = "/no/such/program";

bool WriteFile(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  return fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// In the process that is to be init: namespaces of its own, where it may do all and harm nothing,
// and its two descriptors. Root first becomes somebody who owns nothing.
void EnterSandbox(int report, int plan) {
  constexpr unsigned kNobody = 65534;
  if (::geteuid() == 0 &&
      (::setresgid(kNobody, kNobody, kNobody) != 0 || ::setresuid(kNobody, kNobody, kNobody) != 0 ||
       ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0)) {
    ::_exit(96);
  }
  const std::string uid = "0 " + std::to_string(::geteuid()) + " 1";
  const std::string gid = "0 " + std::to_string(::getegid()) + " 1";
  constexpr int kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                              CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  if (::unshare(kNamespaces) != 0 || !WriteFile("/proc/self/setgroups", "deny") ||
      !WriteFile("/proc/self/uid_map", uid) || !WriteFile("/proc/self/gid_map", gid)) {
    ::_exit(95);
  }
  // The next process is the first of the new pid namespace; this one passes its end on.
  const pid_t first = ::fork();
  if (first > 0) {
    int status = 0;
    if (::waitpid(first, &status, 0) != first) ::_exit(94);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  const int high_report = ::fcntl(report, F_DUPFD_CLOEXEC, 10);
  const int high_plan = ::fcntl(plan, F_DUPFD_CLOEXEC, 10);
  if (::dup2(high_report, kReportFd) < 0 || ::dup2(high_plan, kPlanFd) < 0) ::_exit(93);
  (void)::syscall(SYS_close_range, kFirstPassedFd, ~0U, CLOSE_RANGE_CLOEXEC);
}

struct Course {
  int status = -1;
  std::vector<Report> reports;
};

// Starts init on the bytes and waits for its end; fails the test when it does not end.
Course RunInit(const std::string& bytes) {
  auto plan = sys::SealedMemfd("plan", bytes, false);
  auto report = sys::MakePipe();
  if (!plan || !report) ::abort();
  const Outcome outcome =
      RunCommand({.arguments = {PLIMSOLL_INIT_PROGRAM}, .environment = {}, .prepare = [&] {
                    EnterSandbox(report->write.Get(), plan->Get());
                  }});
  report->write.Reset();
  Course course = {.status = outcome.status, .reports = {}};
  Report one = {};
  while (::read(report->read.Get(), &one, sizeof one) == static_cast<ssize_t>(sizeof one)) {
    course.reports.push_back(one);
  }
  return course;
}

// A plan as the planner makes them, with every kind of step that needs no image, around `tree`.
class Writer {
 public:
  explicit Writer(std::string tree) : tree_(std::move(tree)) {}

  std::string Plan() {
    Add(Phase::kLaunch, StepKind::kNamespaces);
    Add(Phase::kInit, StepKind::kDieWithRunner);
    Add(Phase::kInit, StepKind::kDefaultSignals);
    AddMounts();
    Add(Phase::kInit, StepKind::kHostname, {"guest"});
    Add(Phase::kInit, StepKind::kLoopbackUp);
    Add(Phase::kInit, StepKind::kPivotRoot);
    Add(Phase::kInit, StepKind::kResourceLimit, {}, {RLIMIT_CORE, 1, 1});
    Add(Phase::kInit, StepKind::kUmask, {}, {022});
    Add(Phase::kInit, StepKind::kNoNewPrivileges);
    Add(Phase::kInit, StepKind::kDropCapabilities, {}, {20});
    Add(Phase::kInit, StepKind::kHideInit);
    Add(Phase::kGuest, StepKind::kNewSession);
    Add(Phase::kGuest, StepKind::kWorkingDirectory, {"/work"});
    Add(Phase::kGuest, StepKind::kCloseDescriptors);
    const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    writer_.Add({.phase = Phase::kGuest,
                 .kind = StepKind::kSeccomp,
                 .blob = std::string(reinterpret_cast<const char*>(&allow), sizeof allow)});
    writer_.Add({.phase = Phase::kGuest,
                 .kind = StepKind::kExec,
                 .text = {"/no/bin:/no/sbin"},
                 .blob = std::string(kNoProgram) + '\0' + "argument" + '\0' + "NAME=value" + '\0',
                 .number = {2, 1}});
    return writer_.Finish();
  }

 private:
  void Add(Phase phase, StepKind kind, std::array<std::string, 3> text = {},
           std::array<std::uint64_t, 4> number = {}) {
    writer_.Add({.phase = phase, .kind = kind, .text = std::move(text), .number = number});
  }

  void AddMounts() {
    constexpr std::uint64_t kReadOnly = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    Add(Phase::kInit, StepKind::kPrivateMounts);
    Add(Phase::kInit, StepKind::kScratch, {"mode=0755,size=65536,nr_inodes=64"});
    Add(Phase::kInit, StepKind::kMakeDirectory, {"root"}, {0755});
    Add(Phase::kInit, StepKind::kMakeDirectory, {"work"}, {0755});
    writer_.Add({.phase = Phase::kInit,
                 .kind = StepKind::kWriteFile,
                 .text = {"passwd"},
                 .blob = "guest:x:0:0::/:\n",
                 .number = {0644}});
    Add(Phase::kInit, StepKind::kRoot, {tree_}, {kReadOnly});
    Add(Phase::kInit, StepKind::kMountFilesystem, {"proc", "proc", "hidepid=invisible"},
        {MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC});
    Add(Phase::kInit, StepKind::kBind, {"null", "/dev/null"}, {MOUNT_ATTR_RDONLY, kFromHost});
    Add(Phase::kInit, StepKind::kBind, {"work", "work"}, {MOUNT_ATTR_NOSUID, kFromScratch});
  }

  std::string tree_;
  plan::PlanWriter writer_;
};

class InitProgram : public ::testing::Test {
 protected:
  InitProgram() {
    EXPECT_EQ(::chmod(folder_.Path().c_str(), 0755), 0);
    folder_.MakeDirectory("proc");
    folder_.MakeDirectory("work");
    folder_.WriteFile("null", "");
    plan_ = Writer(folder_.Path()).Plan();
  }

  const std::string& Plan() const { return plan_; }

  // It ended by itself, in one of the ways that a plan without a program to run can end.
  void ExpectReported(const std::string& bytes, const std::string& what) const {
    const Course course = RunInit(bytes);
    EXPECT_EQ(course.status, kSetupFailed) << what;
    ASSERT_EQ(course.reports.size(), 1U) << what;
    EXPECT_TRUE(course.reports[0].kind == ReportKind::kStepFailed ||
                course.reports[0].kind == ReportKind::kNotExecuted)
        << what;
    EXPECT_NE(course.reports[0].kind == ReportKind::kStepFailed ? course.reports[0].detail
                                                                : course.reports[0].value,
              0U)
        << what;
  }

 private:
  TempDir folder_;
  std::string plan_;
};

TEST_F(InitProgram, CarriesAPlanOutUpToTheProgram) {
  const Course course = RunInit(Plan());
  EXPECT_EQ(course.status, kSetupFailed);
  ASSERT_EQ(course.reports.size(), 1U);
  EXPECT_EQ(course.reports[0].kind, ReportKind::kNotExecuted);
  EXPECT_EQ(course.reports[0].value, static_cast<std::uint32_t>(ENOENT));
  EXPECT_EQ(course.reports[0].detail, 0U);
}

TEST_F(InitProgram, RefusesBytesThatAreNoPlan) {
  std::string backwards = Plan();
  std::reverse(backwards.begin(), backwards.end());
  for (const std::string& bytes : {std::string("x"), std::string(32, '\0'), std::string(4096, 'A'),
                                   backwards, Plan().substr(0, Plan().size() / 2), Plan() + "x"}) {
    const Course course = RunInit(bytes);
    EXPECT_EQ(course.status, kSetupFailed);
    ASSERT_EQ(course.reports.size(), 1U);
    EXPECT_EQ(course.reports[0].kind, ReportKind::kStepFailed);
    EXPECT_EQ(course.reports[0].value, kMaxSteps);
    EXPECT_EQ(course.reports[0].detail, static_cast<std::uint32_t>(EBADMSG));
  }
}

TEST_F(InitProgram, RefusesAnEmptyPlan) {
  const Course course = RunInit("");
  EXPECT_EQ(course.status, kSetupFailed);
  ASSERT_EQ(course.reports.size(), 1U);
  EXPECT_EQ(course.reports[0].detail, static_cast<std::uint32_t>(EINVAL));  // nothing to map
}

TEST_F(InitProgram, EndsWithAReportWhereAPlanIsCutShort) {
  for (std::size_t size = 1; size < Plan().size(); size += 1 + size / 16) {
    ExpectReported(Plan().substr(0, size), std::to_string(size));
  }
}

// Each field of each step becomes nothing, everything and one more.
TEST_F(InitProgram, EndsWithAReportWhateverAFieldOfAStepHolds) {
  const std::size_t count = plan::ReadSteps(Plan()).size();
  for (std::size_t step = 0; step < count; ++step) {
    for (std::size_t word = 0; word < sizeof(Step) / sizeof(std::uint32_t); ++word) {
      const std::size_t place = sizeof(Header) + step * sizeof(Step) + word * sizeof(std::uint32_t);
      std::uint32_t old = 0;
      std::memcpy(&old, &Plan()[place], sizeof old);
      for (const std::uint32_t value : {std::uint32_t{0}, UINT32_MAX, old + 1}) {
        std::string bytes = Plan();
        std::memcpy(&bytes[place], &value, sizeof value);
        ExpectReported(bytes, "step " + std::to_string(step) + ", word " + std::to_string(word) +
                                  ", value " + std::to_string(value));
      }
    }
  }
}

TEST_F(InitProgram, EndsWithAReportWhicheverBytesAreFlipped) {
  std::mt19937 random(1);  // the same plans each time
  for (int round = 0; round < 300; ++round) {
    std::string bytes = Plan();
    for (int flips = 1 + round % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    }
    ExpectReported(bytes, "round " + std::to_string(round));
  }
}

TEST_F(InitProgram, RefusesAPlanThatCannotBeMapped) {
  auto report = sys::MakePipe();
  ASSERT_TRUE(report.has_value());
  const Outcome outcome =
      RunCommand({.arguments = {PLIMSOLL_INIT_PROGRAM}, .environment = {}, .prepare = [&] {
                    EnterSandbox(report->write.Get(), report->read.Get());
                  }});
  EXPECT_EQ(outcome.status, kSetupFailed);
}

}  // namespace
}  // namespace plimsoll::init
