// What of the host a guest can see, reach or change: nothing.

#include <sys/stat.h>

#include "base/text.h"
#include "crypto/sha256.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::Binary;
using testing_support::Command;
using testing_support::Outcome;
using testing_support::PlimsollTest;
using testing_support::Process;
using testing_support::ReadWholeFile;
using testing_support::RunCommand;

class Guest : public PlimsollTest {
 protected:
  void ExpectNothingOfTheHost(const std::string& text) const {
    for (const std::string& path : {Folder().Path(), Home(), std::string("/home/"), Binary()}) {
      EXPECT_EQ(text.find(path), std::string::npos) << path << " in: " << text;
    }
  }
};

TEST_F(Guest, SeesNoDescriptorOrDirectoryOfTheHost) {
  const Outcome outcome = RunScript(
      "for n in $(seq 0 100); do readlink /proc/self/fd/$n; done\n"
      "for p in /proc/[0-9]*; do readlink $p/cwd $p/root $p/exe; ls -l $p/fd; done 2>/dev/null; "
      "true");
  ExpectNothingOfTheHost(outcome.out);
  for (const std::string_view line : Split(outcome.out, '\n')) {
    if (!line.starts_with('/')) continue;
    EXPECT_TRUE(line == "/dev/null" || line == "/" || line == "/work" ||
                line.starts_with("/bin/") || line.starts_with("/proc/"))
        << line;
  }
}

TEST_F(Guest, SeesItsOwnProcessesOnly) {
  const Outcome outcome = RunScript("cd /proc; for p in [0-9]*; do cat $p/comm; done");
  for (const std::string_view line : Split(outcome.out, '\n')) {
    EXPECT_TRUE(line == "sh" || line == "cat" || line.empty()) << line;
  }
}

TEST_F(Guest, CannotReachTheRunner) {
  Command command = Script(
      "read pid; kill -9 $pid; kill -0 $pid; ls /proc/$pid; cat /proc/$pid/mem; echo done", {"-i"});
  command.keep_input_open = true;
  Process runner(std::move(command));
  runner.Write(std::to_string(runner.Pid()) + "\n");
  const Outcome outcome = runner.Wait();
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "sh: can't kill pid " + std::to_string(runner.Pid()) +
                             ": No such process\n" + "sh: can't kill pid " +
                             std::to_string(runner.Pid()) + ": No such process\n" + "ls: /proc/" +
                             std::to_string(runner.Pid()) + ": No such file or directory\n" +
                             "cat: can't open '/proc/" + std::to_string(runner.Pid()) +
                             "/mem': No such file or directory\n");
}

TEST_F(Guest, CannotEndOrReadProcessOne) {
  const Outcome outcome = RunScript(
      "kill -9 1; kill -TERM 1; cat /proc/1/environ; cat /proc/1/maps; ls /proc/1/fd; echo alive");
  EXPECT_EQ(outcome.out, "alive\n");
  EXPECT_EQ(outcome.status, 0);
}

TEST_F(Guest, CannotChangeTheRunnerThroughAnyExe) {
  const std::string before = crypto::Sha256HexOf(ReadWholeFile(Binary()));
  Folder().WriteFile("workspace/self", "#!/proc/self/exe\n", 0755);
  RunScript(
      "/src/self; for e in /proc/1/exe /proc/self/exe /proc/2/exe; do echo x > $e; cp /bin/sh $e; "
      "done; "
      "cat /proc/1/exe",
      {"-v", ".:/src"});
  RunExec({"-v", ".:/src", "--", "/src/self"});
  EXPECT_EQ(crypto::Sha256HexOf(ReadWholeFile(Binary())), before);
  EXPECT_EQ(RunScript("exit 9").status, 9);
}

TEST_F(Guest, CannotReadOrChangeTheKernel) {
  const std::vector<std::string> writes = {"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
                                           "/proc/sys/vm/drop_caches", "/proc/sys/kernel/hostname"};
  for (const std::string& path : writes) {
    EXPECT_NE(RunScript("echo x > " + path).status, 0) << path;
  }
  const std::vector<std::string> reads = {"/proc/kcore",      "/proc/kallsyms",   "/proc/keys",
                                          "/proc/timer_list", "/proc/interrupts", "/sys/firmware",
                                          "/sys/kernel",      "/proc/acpi",       "/proc/scsi"};
  for (const std::string& path : reads) {
    EXPECT_EQ(RunScript("cat " + path + " 2>/dev/null; ls " + path + "/ 2>/dev/null").out, "")
        << path;
  }
}

TEST_F(Guest, SeesMountsWithoutPathsOfTheHost) {
  const Outcome outcome = RunScript("cat /proc/self/mountinfo", {"-v", ".:/work/src"});
  for (const std::string_view line : Split(outcome.out, '\n')) {
    if (line.empty()) continue;
    const auto fields = Split(line, ' ');
    ASSERT_GT(fields.size(), 6U) << line;
    const std::string root(fields[3]);
    if (fields[4] == "/work/src") {
      EXPECT_TRUE(root.ends_with("/workspace")) << line;
    } else if (fields[4] == "/") {
      EXPECT_NE(root.find("/plimsoll/trees/"), std::string::npos) << line;
    } else {
      ExpectNothingOfTheHost(std::string(line));
      EXPECT_EQ(root.find('/', 1), std::string::npos) << line;
    }
  }
}

TEST_F(Guest, HasARootThatCannotBeWritten) {
  const Outcome outcome = RunScript(
      "for d in / /bin /etc /usr /dev /sys /proc /home /var; do touch $d/new 2>/dev/null && echo "
      "$d; "
      "done; echo x >> /etc/passwd; echo end");
  EXPECT_EQ(outcome.out, "end\n");
}

TEST_F(Guest, SeesNoDeviceButTheHarmlessOnes) {
  EXPECT_EQ(RunScript("ls /dev").out,
            "fd\nfull\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n");
  EXPECT_NE(RunScript("mknod /tmp/d c 1 3").status, 0);
  EXPECT_NE(RunScript("mknod /tmp/d b 8 0").status, 0);
}

TEST_F(Guest, HasALoopbackAndNoOtherInterface) {
  EXPECT_EQ(RunScript("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").out, "lo\n");
  EXPECT_NE(RunScript("nc -w 1 127.0.0.1 22 < /dev/null").status, 0);
}

TEST_F(Guest, HasNamesOfItsOwn) {
  EXPECT_EQ(RunScript("hostname; cat /etc/hostname; cat /etc/resolv.conf").out,
            "plimsoll\nplimsoll\n");
}

TEST_F(Guest, LeavesNoSharedMemoryOrQueueBehind) {
  RunScript("echo x > /dev/shm/left; ipcmk -M 100 2>/dev/null; true");
  EXPECT_EQ(RunScript("ls /dev/shm").out, "");
}

}  // namespace
}  // namespace plimsoll
