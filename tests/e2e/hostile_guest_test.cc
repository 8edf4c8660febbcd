// Guests that attack: whatever they do, the run ends in time, says the truth, and leaves nothing.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <map>

#include "base/text.h"
#include "crypto/sha256.h"
#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Command;
using testing_support::LimitMember;
using testing_support::ListTree;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::Process;
using testing_support::ReadWholeFile;
using testing_support::RunCommand;
using testing_support::WaitForOrphans;
using testing_support::Words;
using std::chrono_literals::operator""s;

// Much longer than any of these runs takes, much shorter than the guests would stay.
constexpr std::chrono::seconds kInTime{30};

// An attempt's name, and every different thing that came of it.
using Answers = std::multimap<std::string, std::string>;

Answers ReadAnswers(const std::string& out) {
  Answers answers;
  for (const std::string_view line : Split(out, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos)
      answers.emplace(line.substr(0, blank), line.substr(blank + 1));
  }
  return answers;
}

class HostileGuest : public PlimsollTest {
 protected:
  // What was on the host before is all that is there afterwards.
  void SetUp() override {
    EXPECT_EQ(RunExec({"--", "true"}).status, 0);  // the store is made by now
    files_ = ListTree(Folder().Path());
    store_ = ListTree(StorePath());
    mounts_ = ReadWholeFile("/proc/self/mountinfo");
  }
  void TearDown() override {
    EXPECT_TRUE(WaitForOrphans(5s));
    EXPECT_EQ(ListTree(Folder().Path()), files_);
    EXPECT_EQ(ListTree(StorePath()), store_);
    EXPECT_EQ(ReadWholeFile("/proc/self/mountinfo"), mounts_);
  }

  // The probes lie below /work: a mount point that the image lacks would bring an overlay, whose
  // files are this run's own.
  Command Attack(const std::string& program, Words words, Words flags = {}) const {
    flags.insert(flags.end(), {"-v", std::string(PLIMSOLL_PROBES_DIR) + ":/work/probes", "--",
                               "/work/probes/" + program});
    flags.insert(flags.end(), words.begin(), words.end());
    return Exec(std::move(flags));
  }

  // Runs it to its end, which has to be the guest's own with `status`, and gives the response.
  json::Document Respond(const std::string& program, const std::string& attack, int status,
                         Words flags = {}) const {
    flags.emplace_back("--json");
    const Outcome outcome = RunCommand(Attack(program, {attack}, std::move(flags)));
    EXPECT_EQ(outcome.status, status);
    EXPECT_LT(outcome.wall, kInTime);
    auto answer = ParseAnswer(outcome);
    EXPECT_EQ(At(answer, "/origin"), "guest");
    EXPECT_EQ(At(answer, "/ran"), "yes");
    EXPECT_EQ(At(answer, "/project/outcome"), "completed") << At(answer, "/project/outcome_detail");
    EXPECT_EQ(At(answer, "/project/steps/0/exit_code"), std::to_string(status));
    EXPECT_EQ(At(answer, "/project/steps/0/signal"), "0");
    return answer;
  }

  Answers AnswersOf(const std::string& program, const std::string& attack, int status,
                    Words flags = {}) const {
    const auto answer = Respond(program, attack, status, std::move(flags));
    return ReadAnswers(At(answer, "/project/steps/0/stdout/text"));
  }

  void ExpectTimedOut(Command command) const {
    const Outcome outcome = RunCommand(std::move(command));
    const auto answer = ParseAnswer(outcome);
    EXPECT_EQ(outcome.status, 124);
    EXPECT_LT(outcome.wall, kInTime);
    EXPECT_EQ(At(answer, "/origin"), "runner");
    EXPECT_EQ(At(answer, "/project/outcome"), "timed_out");
    EXPECT_EQ(At(answer, "/project/steps/0/timed_out"), "true");
  }

 private:
  std::vector<std::string> files_;
  std::vector<std::string> store_;
  std::string mounts_;
};

void ExpectAllRefused(const Answers& answers, std::size_t at_least) {
  EXPECT_GE(answers.size(), at_least);
  for (const auto& [name, answer] : answers) {
    EXPECT_NE(answer, "ok") << name;
  }
}

void ExpectStream(const json::Document& answer, const std::string& name, const std::string& bytes) {
  const std::string at = "/project/steps/0/" + name;
  EXPECT_EQ(At(answer, at + "/bytes"), std::to_string(bytes.size()));
  EXPECT_EQ(At(answer, at + "/sha256"), crypto::Sha256HexOf(bytes));
  EXPECT_TRUE(At(answer, at + "/text") == bytes.substr(0, std::size_t{1} << 20U));
}

Words ShortTimeout() {
  return {"--json", "--timeout", "300ms", "--kill-after", "100ms"};
}

TEST_F(HostileGuest, ThatFillsTheSignalQueueEndsAsItWould) {
  const Answers answers = AnswersOf("hostile", "signal-queue", 7);
  EXPECT_EQ(answers.find("own")->second, "EAGAIN");
  EXPECT_LE(ParseUint(answers.find("queued")->second).value_or(UINT64_MAX), 4096U);
}

TEST_F(HostileGuest, ThatFillsTheSignalQueueIsEndedByATimeLimit) {
  ExpectTimedOut(Attack("hostile", {"signal-queue", "stay"}, ShortTimeout()));
}

TEST_F(HostileGuest, CannotOpenTraceLimitOrReplaceProcessOne) {
  ExpectAllRefused(AnswersOf("hostile_calls", "reach", 0), 50);
}

TEST_F(HostileGuest, CannotEndProcessOneOrHaveItForwardASignal) {
  const Answers answers = AnswersOf("hostile", "signal", 8);
  ASSERT_EQ(answers.count("received"), 1U);
  EXPECT_EQ(answers.find("received")->second, "0");
}

TEST_F(HostileGuest, ThatStopsAllItsProcessesIsEndedByATimeLimit) {
  ExpectTimedOut(Attack("hostile", {"stop"}, ShortTimeout()));
}

TEST_F(HostileGuest, LeavesNoneOfProcessesThatRunAwayAndIgnoreSignals) {
  Respond("hostile", "storm", 3, {"--pids-limit", "200"});
}

TEST_F(HostileGuest, WithoutDescriptorsAndProcessesLeftStillEndsAsItWould) {
  const Answers answers = AnswersOf("hostile", "use-up", 5, {"--pids-limit", "40"});
  EXPECT_EQ(answers, (Answers{{"descriptors", "EMFILE"}, {"processes", "EAGAIN"}}));
}

TEST_F(HostileGuest, WithAsManyPipesAsItCanHaveLeavesOtherRunsTheirOutput) {
  Process hoarder(Attack("hostile_files", {"pipes"}));
  hoarder.ReadUntil("pipes");
  const Outcome other = RunScript("head -c 3000000 /dev/zero; exit 9");
  EXPECT_EQ(other.status, 9);
  EXPECT_TRUE(other.out == std::string(3000000, '\0')) << other.out.size();
  hoarder.Signal(SIGTERM);
  EXPECT_EQ(hoarder.Wait().status, 128 + SIGTERM);
}

// Pages that were spliced change until they are read, so only what was read counts.
TEST_F(HostileGuest, CannotChangeOutputBetweenTheHashAndTheReader) {
  const auto answer = Respond("hostile_files", "splice", 0);
  const std::string text = At(answer, "/project/steps/0/stdout/text");
  ExpectStream(answer, "stdout", text);
  EXPECT_EQ(text.size(), 32U * 16384);
  EXPECT_EQ(text.find_first_not_of("ab"), std::string::npos);
  EXPECT_EQ(At(answer, "/project/steps/0/stderr/text"), "vmsplice EPERM\ntee EPERM\n");
  const Outcome raw = RunCommand(Attack("hostile_files", {"splice"}));
  EXPECT_EQ(raw.out.size(), text.size());
}

TEST_F(HostileGuest, MayGiveItsStreamsAnyModeAndLosesNothing) {
  const auto answer = Respond("hostile_files", "modes", 0);
  ExpectStream(answer, "stdout", std::string(300001, 'm'));
  ExpectStream(answer, "stderr", std::string(300001, 'm'));
}

TEST_F(HostileGuest, CannotKeepOtherRunsFromAFileOfTheImage) {
  Process holder(Attack("hostile_files", {"lease", "/bin/sh"}));
  const Answers answers = ReadAnswers(holder.ReadUntil("up ok\n"));
  EXPECT_EQ(answers.find("lease")->second, "EPERM");
  EXPECT_EQ(answers.find("high-bits")->second, "EPERM");
  const Outcome other = RunScript("cat /bin/sh > /dev/null; exit 9");
  EXPECT_EQ(other.status, 9);
  EXPECT_LT(other.wall, 10s);  // a lease lasts 45 s
  holder.Signal(SIGKILL);
  holder.Wait();
}

// Runs share the image's inodes, and with them its locks; a layer of the run's own has its own.
TEST_F(HostileGuest, CannotLockAFileOfTheImageInAWritableRoot) {
  for (const Words& flags : {Words{}, Words{"--writable-root"}}) {
    Process holder(Attack("hostile_files", {"lease", "/bin/sh"}, flags));
    holder.ReadUntil("up ok\n");
    const Outcome other = RunCommand(Attack("hostile_files", {"lock", "/bin/sh"}, flags));
    EXPECT_EQ(other.out, flags.empty() ? "flock EAGAIN\n" : "flock ok\n") << other.err;
    holder.Signal(SIGKILL);
    holder.Wait();
  }
}

TEST_F(HostileGuest, ThatFloodsBothStreamsHasEveryByteCounted) {
  const auto answer = Respond("hostile_files", "flood", 2);
  ExpectStream(answer, "stdout", std::string(1000003, 'o'));
  ExpectStream(answer, "stderr", std::string(3000001, 'e') + "half");
}

TEST_F(HostileGuest, GetsNothingFromCommandsForTerminals) {
  ExpectAllRefused(AnswersOf("hostile_calls", "terminals", 0), 100);
}

TEST_F(HostileGuest, ThatExecutesItselfAHundredTimesChangesNothing) {
  const Answers answers = AnswersOf("hostile", "execute", 6);
  EXPECT_EQ(answers.find("written")->second, "ETXTBSY");
  ExpectAllRefused(answers, 8);
}

TEST_F(HostileGuest, ThatFillsItsFilesWithNamesEndsAndLeavesNone) {
  const auto answer = Respond("hostile_files", "fill-work", 0, {"--tmpfs-size", "16M"});
  const Answers answers = ReadAnswers(At(answer, "/project/steps/0/stdout/text"));
  EXPECT_EQ(answers, (Answers{{"blocks", "ENOSPC"}, {"file", "ENOSPC"}, {"names", "ENOSPC"}}));
  EXPECT_EQ(LimitMember(answer, "tmpfs-size", "hit"), "true");
  EXPECT_EQ(RunScript("ls -A /work /tmp /run").out, "/run:\n\n/tmp:\n\n/work:\n");
}

TEST_F(HostileGuest, CannotCallIntoTheKernelBesidesTheOrdinaryCalls) {
  ExpectAllRefused(AnswersOf("hostile_calls", "kernel", 0), 40);
}

// What was in the queue of a socket when the last process of a guest ended.
class HostileGuestWithSockets : public PlimsollTest {};

TEST_F(HostileGuestWithSockets, CannotDelayTheEndByLeavingItsStreamsInOne) {
  const std::string folder = Folder().MakeDirectory("sockets");
  const sys::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = folder + "/s";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(&address.sun_path[0], path.size());
  ASSERT_EQ(::bind(socket.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  const Outcome outcome =
      RunExec({"--json", "-v", folder + ":/work/sockets", "-v", ProbesVolume(), "--",
               "/probes/hostile_files", "leave-streams", "/work/sockets/s"});
  const auto answer = ParseAnswer(outcome);
  EXPECT_EQ(outcome.status, 4);
  EXPECT_LT(outcome.wall, kInTime);
  ExpectStream(answer, "stdout", "left ok\nlast words");
}

// The kernel frees sockets that only hold each other when it has a reason to look for them, which
// on a quiet host may be never.
TEST_F(HostileGuestWithSockets, LeavesNoFileOpenInOnesThatHoldEachOther) {
  const std::string folder = Folder().MakeDirectory("files");
  const std::string path = folder + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  const sys::UniqueFd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  Words words = testing_support::Writable(folder + ":/work/files");
  words.insert(words.end(), {"-v", ProbesVolume(), "--", "/probes/hostile_files", "leave-file",
                             "/work/files/fifo"});
  const Outcome outcome = RunExec(std::move(words));
  EXPECT_EQ(outcome.status, 4);
  EXPECT_EQ(outcome.out, "left ok\n");
  struct pollfd end = {.fd = reader.Get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&end, 1, 5000), 1) << "somebody still has the file open";
}

}  // namespace
}  // namespace plimsoll
