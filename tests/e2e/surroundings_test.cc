// Odd surroundings of the caller: plimsoll works in all of them, or refuses in a sentence.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Binary;
using testing_support::Command;
using testing_support::IsRoot;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::RunCommand;
using testing_support::SetVariable;
using testing_support::UnsetVariable;

class Surroundings : public PlimsollTest {
 protected:
  Command Hello(testing_support::Words flags = {}) const {
    return Script("echo hello; umask; pwd; echo x > /work/f && cat /work/f; exit 7",
                  std::move(flags));
  }
  static void ExpectHello(Command command, const std::string& where) {
    const Outcome outcome = RunCommand(std::move(command));
    EXPECT_EQ(outcome.status, 7) << where << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "hello\n0022\n/work\nx\n") << where;
    EXPECT_EQ(outcome.err, "") << where;
  }
};

TEST_F(Surroundings, WithAnyUmaskAndANewStore) {
  for (const mode_t mask : {0777U, 0U, 0077U, 0022U}) {
    Command command = Hello({"--store", Folder() / ("store" + std::to_string(mask))});
    command.prepare = [mask] { (void)::umask(mask); };
    ExpectHello(std::move(command), "umask " + std::to_string(mask));
  }
}

TEST_F(Surroundings, WithAStoreOfItsOwnMode) {
  const auto mode_with = [&](mode_t mask) {
    const std::string store = Folder() / ("mode" + std::to_string(mask));
    Command command = Hello({"--store", store});
    command.prepare = [mask] { (void)::umask(mask); };
    ExpectHello(std::move(command), store);
    struct stat status = {};
    EXPECT_EQ(::stat(store.c_str(), &status), 0);
    return status.st_mode & 0777U;
  };
  EXPECT_EQ(mode_with(0) & 022U, 0U) << "others must not be able to write the store";
}

TEST_F(Surroundings, InADeletedWorkingDirectory) {
  const std::string gone = Folder().MakeDirectory("gone");
  Command command = Hello();
  command.directory = gone;
  command.prepare = [gone] { (void)::rmdir(gone.c_str()); };
  ExpectHello(std::move(command), "deleted cwd");

  Folder().MakeDirectory("gone");
  Command relative = Hello({"-v", "x:/src"});
  relative.directory = gone;
  relative.prepare = [gone] { (void)::rmdir(gone.c_str()); };
  EXPECT_EQ(RunCommand(std::move(relative)).status, 125);
}

TEST_F(Surroundings, InAnUnreadableWorkingDirectory) {
  const std::string closed = Folder().MakeDirectory("closed");
  Command command = Hello();
  command.directory = closed;
  command.prepare = [closed] { (void)::chmod(closed.c_str(), 0); };
  ExpectHello(std::move(command), "closed cwd");
  ASSERT_EQ(::chmod(closed.c_str(), 0700), 0);
}

TEST_F(Surroundings, WithOddHomesWhenTheStoreIsElsewhere) {
  for (const std::string& home :
       {std::string(), std::string("relative"), Folder() / "absent", std::string("/proc"),
        std::string("/dev/null"), std::string("/root/x")}) {
    Command first = Exec({"--", "true"});  // may say that it has made a key
    SetVariable(first, "HOME", home);
    EXPECT_EQ(RunCommand(std::move(first)).status, 0) << home;
    Command command = Hello();
    SetVariable(command, "HOME", home);
    ExpectHello(std::move(command), "HOME=" + home);
  }
  Command unset = Hello();
  UnsetVariable(unset, "HOME");
  ExpectHello(std::move(unset), "no HOME");
}

TEST_F(Surroundings, WithoutAnyPlaceForTheStoreSayWhatToDo) {
  Command command = Hello();
  UnsetVariable(command, "XDG_DATA_HOME");
  SetVariable(command, "HOME", "relative");
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "plimsoll: no place for the image store: HOME and XDG_DATA_HOME are not set\n"
            "plimsoll: hint: set HOME, or name a folder with --store\n");
}

TEST_F(Surroundings, WithAHomeThatCannotBeWrittenSayWhichPath) {
  Command command = Hello();
  UnsetVariable(command, "XDG_DATA_HOME");
  SetVariable(command, "HOME", "/proc");
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_NE(outcome.err.find("'/proc/.local"), std::string::npos) << outcome.err;
}

TEST_F(Surroundings, ARelativeDataHomeIsPassedOver) {
  Command command = Hello();
  SetVariable(command, "XDG_DATA_HOME", "relative");
  ExpectHello(std::move(command), "relative XDG_DATA_HOME");
  EXPECT_NE(::access((Workspace() + "/relative").c_str(), F_OK), 0);
  EXPECT_EQ(::access((Home() + "/.local/share/plimsoll").c_str(), F_OK), 0);
}

TEST_F(Surroundings, WithOddTemporaryDirectoriesAndLocales) {
  for (const std::string folder : {"", "relative", "/nonexistent", "/proc"}) {
    Command command = Hello();
    SetVariable(command, "TMPDIR", folder);
    ExpectHello(std::move(command), "TMPDIR=" + folder);
  }
  for (const std::string locale : {"", "C", "tr_TR.UTF-8", "de_DE", "no_SUCH", "\xff"}) {
    Command command = Hello({"--cpus", "1.5", "-q"});
    for (const std::string name : {"LC_ALL", "LANG"})
      SetVariable(command, name, locale);
    ExpectHello(std::move(command), "LC_ALL=" + locale);
  }
}

TEST_F(Surroundings, WithoutAnyVariableButTheStores) {
  Command first = Exec({"--store", StorePath(), "--", "true"});  // may make a key
  first.environment.clear();
  EXPECT_EQ(RunCommand(std::move(first)).status, 0);
  Command command = Hello({"--store", StorePath()});
  command.environment.clear();
  ExpectHello(std::move(command), "empty environment");
}

TEST_F(Surroundings, WithManyOpenDescriptors) {
  Command command = Hello();
  command.prepare = [] {
    for (int fd = 3; fd <= 50; ++fd)
      (void)::dup2(::open("/etc/passwd", O_RDONLY), fd);
  };
  ExpectHello(std::move(command), "3 to 50 open");
}

TEST_F(Surroundings, WithSignalsBlockedAndIgnored) {
  Command blocked = Hello();
  blocked.prepare = [] {
    sigset_t all;
    ::sigfillset(&all);
    (void)::sigprocmask(SIG_BLOCK, &all, nullptr);
  };
  ExpectHello(std::move(blocked), "all blocked");
  for (const int number : {SIGCHLD, SIGPIPE, SIGINT, SIGTERM}) {
    Command ignored = Hello();
    ignored.prepare = [number] { (void)::signal(number, SIG_IGN); };
    ExpectHello(std::move(ignored), "ignored " + std::to_string(number));
  }
}

TEST_F(Surroundings, ATimeLimitWorksWithSignalsBlockedAndIgnored) {
  Command command = Script("sleep 99", {"--timeout", "200ms"});
  command.prepare = [] {
    for (int number = 1; number < 65; ++number)
      (void)::signal(number, SIG_IGN);
    sigset_t all;
    ::sigfillset(&all);
    (void)::sigprocmask(SIG_BLOCK, &all, nullptr);
  };
  EXPECT_EQ(RunCommand(std::move(command)).status, 124);
}

TEST_F(Surroundings, WithFewDescriptors) {
  Command command = Hello();
  command.prepare = [] {
    const struct rlimit files = {.rlim_cur = 64, .rlim_max = 64};
    (void)::setrlimit(RLIMIT_NOFILE, &files);
  };
  ExpectHello(std::move(command), "RLIMIT_NOFILE 64");
}

TEST_F(Surroundings, WithoutEnoughDescriptorsSayIt) {
  Command command = Hello();
  command.prepare = [] {
    const struct rlimit files = {.rlim_cur = 8, .rlim_max = 8};
    (void)::setrlimit(RLIMIT_NOFILE, &files);
  };
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("(EMFILE)"), std::string::npos) << outcome.err;
}

// Nobody without privilege gets above a hard limit that was inherited.
TEST_F(Surroundings, WithLowHardLimits) {
  const std::vector<std::pair<__rlimit_resource_t, rlim_t>> limits = {
      {RLIMIT_CORE, 0},       {RLIMIT_NPROC, 300},      {RLIMIT_CPU, 5},  {RLIMIT_STACK, 1U << 18U},
      {RLIMIT_SIGPENDING, 9}, {RLIMIT_MEMLOCK, 0},      {RLIMIT_NICE, 0}, {RLIMIT_RTPRIO, 0},
      {RLIMIT_MSGQUEUE, 0},   {RLIMIT_FSIZE, 1U << 20U}};
  for (const auto& [resource, most] : limits) {
    Command command = Hello({"-q", "--cpu-time", "60"});
    command.prepare = [resource = resource, most = most] {
      const struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
      (void)::setrlimit(resource, &limit);
    };
    ExpectHello(std::move(command), "limit " + std::to_string(resource));
  }
}

TEST_F(Surroundings, WithNoRoomForFilesSayIt) {
  Command command = Hello();
  command.prepare = [] {
    const struct rlimit size = {.rlim_cur = 512, .rlim_max = 512};
    (void)::setrlimit(RLIMIT_FSIZE, &size);
  };
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_NE(outcome.err.find("(EFBIG)"), std::string::npos) << outcome.err;
}

TEST_F(Surroundings, WithAStandardOutputThatDoesNotBlock) {
  for (const testing_support::Words& flags : {testing_support::Words{}, {"--json"}}) {
    Command command = Script("head -c 1048576 /dev/zero | tr '\\0' x", flags);
    command.pipe_bytes = 4096;
    command.prepare = [] { (void)::fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK); };
    const Outcome outcome = RunCommand(std::move(command));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find(std::string(1048576, 'x')), std::string::npos) << outcome.out.size();
  }
}

// A descriptor of ours in the place of a stream that the caller closed would reach the guest, or
// take what the guest writes.
TEST_F(Surroundings, WithAnyOfTheStandardStreamsClosed) {
  for (unsigned closed = 0; closed < 8; ++closed) {
    Command command = Script("cat; echo out; echo err >&2; exit 7", {"-i"});
    command.prepare = [closed] {
      for (int fd = 0; fd < 3; ++fd) {
        if ((closed >> static_cast<unsigned>(fd) & 1U) != 0) (void)::close(fd);
      }
    };
    const Outcome outcome = RunCommand(std::move(command));
    EXPECT_EQ(outcome.status, 7) << closed;
    EXPECT_EQ(outcome.out, (closed & 2U) != 0 ? "" : "out\n") << closed;
    EXPECT_EQ(outcome.err, (closed & 4U) != 0 ? "" : "err\n") << closed;
  }
}

TEST_F(Surroundings, TheGuestsStreamsAreItsOwnWhenTheCallersAreClosed) {
  Command command = Script("ls -l /proc/self/fd > /bell/seen",
                           testing_support::Writable(Folder() / "bell:/bell"));
  Folder().MakeDirectory("bell");
  ASSERT_EQ(::chmod((Folder() / "bell").c_str(), 0777), 0);
  command.prepare = [] {
    for (int fd = 0; fd < 3; ++fd)
      (void)::close(fd);
  };
  EXPECT_EQ(RunCommand(std::move(command)).status, 0);
  const std::string seen = testing_support::ReadWholeFile(Folder() / "bell/seen");
  EXPECT_NE(seen.find("0 -> /dev/null"), std::string::npos) << seen;
  EXPECT_NE(seen.find("2 -> pipe:"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("plimsoll"), seen.find("plimsoll plimsoll")) << seen;
}

TEST_F(Surroundings, AFullDiskForTheResponseIsAFailureOfOurs) {
  Command command = Script("true", {"--json"});
  command.prepare = [] { (void)::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); };
  EXPECT_EQ(RunCommand(std::move(command)).status, 125);
}

TEST_F(Surroundings, WithLongAndOddArguments) {
  const std::string odd = std::string("\xff\xfe\n\t\x01\\'\"$`*?") + "\xc3\xa9";
  for (const std::string& argument : {std::string(), odd, std::string(120'000, 'x'),
                                      std::string("--"), std::string("-i"), std::string("a\nb")}) {
    const Outcome outcome = RunExec({"--", "printf", "%s", argument});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, argument);
  }
  testing_support::Words many = {"--", "sh", "-c", "echo $#", "sh"};
  many.insert(many.end(), 20'000, "x");
  EXPECT_EQ(RunExec(many).out, "20000\n");
}

TEST_F(Surroundings, ArgumentsBeyondTheLimitAreRefusedInASentence) {
  // Both ends share the kernel's limit on what an exec may pass, so a file brings the guest beyond
  // ours.
  std::string file;
  for (int i = 0; i < 50; ++i)
    file += "V" + std::to_string(i) + "=" + std::string(20'000, 'x') + "\n";
  testing_support::Words flags;
  for (int i = 0; i < 5; ++i) {
    std::string renamed;
    for (const char c : file)
      renamed += c == 'V' ? static_cast<char>('A' + i) : c;
    flags.insert(flags.end(),
                 {"--env-file", Folder().WriteFile("workspace/" + std::to_string(i), renamed)});
  }
  const Outcome outcome = RunScript("echo ran", flags);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("shorten the arguments"), std::string::npos) << outcome.err;
}

TEST_F(Surroundings, WithTenThousandVariables) {
  Command command = Script("env | grep -c ^V", {"--env-file", "names"});
  for (int i = 0; i < 10'000; ++i) {
    command.environment.push_back("V" + std::to_string(i) + "=" + std::to_string(i));
  }
  std::string file;
  for (int i = 0; i < 10'000; ++i)
    file += "V" + std::to_string(i) + "\n";
  Folder().WriteFile("workspace/names", file);
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.out, "10000\n") << outcome.err;
}

TEST_F(Surroundings, FromAFolderWithANewlineInItsName) {
  const std::string folder = Folder().MakeDirectory("a\nb \xff");
  Folder().WriteFile("a\nb \xff/f", "inside\n");
  Command command = Script("cat /src/f", {"-v", ".:/src"});
  command.directory = folder;
  EXPECT_EQ(RunCommand(std::move(command)).out, "inside\n");
}

}  // namespace
}  // namespace plimsoll
