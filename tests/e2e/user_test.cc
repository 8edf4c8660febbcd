// Who the guest is, inside and on the host, and where it starts.

#include <sys/stat.h>

#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::IsRoot;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::Words;

class User : public PlimsollTest {
 protected:
  // "uid gid name group" of a guest that is asked for as `user`.
  std::string Ids(const std::string& user) const {
    const Outcome outcome = RunScript("echo $(id -u) $(id -g) $(id -un) $(id -gn)", {"-u", user});
    EXPECT_EQ(outcome.status, 0) << user << ": " << outcome.err;
    return outcome.out;
  }
};

TEST_F(User, Is1000ByDefaultAndHasAnAccount) {
  EXPECT_EQ(RunScript("echo $(id -u) $(id -g) $(id -un) $(id -gn)").out,
            "1000 1000 plimsoll plimsoll\n");
  EXPECT_EQ(RunScript("echo ~; whoami").out, "/work\nplimsoll\n");
}

TEST_F(User, MayBeANumberWithOrWithoutAnAccount) {
  EXPECT_EQ(Ids("0"), "0 0 root root\n");
  EXPECT_EQ(Ids("42"), "42 42 guest42 guest42\n");
  EXPECT_EQ(Ids("42:43"), "42 43 guest42 guest43\n");
  EXPECT_EQ(Ids("1000:0"), "1000 0 plimsoll root\n");
  EXPECT_EQ(Ids("4294967294"), "4294967294 4294967294 guest4294967294 guest4294967294\n");
}

TEST_F(User, MayBeANameOfTheImage) {
  EXPECT_EQ(Ids("root"), "0 0 root root\n");
  EXPECT_EQ(Ids("plimsoll:root"), "1000 0 plimsoll root\n");
  EXPECT_EQ(Ids("root:77"), "0 77 root guest77\n");
}

TEST_F(User, WithoutAnAccountGetsOneLineMoreInTheImagesFiles) {
  const std::string before = RunScript("cat /etc/passwd /etc/group").out;
  const std::string after = RunScript("cat /etc/passwd", {"-u", "42"}).out;
  EXPECT_EQ(after, RunScript("cat /etc/passwd").out + "guest42:x:42:42:plimsoll:/work:/bin/sh\n");
  EXPECT_EQ(RunScript("cat /etc/passwd /etc/group").out, before);
  EXPECT_NE(RunScript("echo x >> /etc/passwd", {"-u", "42"}).status, 0);
}

TEST_F(User, WithTheNumberOfRootHasNoPrivilege) {
  const Outcome outcome = RunScript(
      "grep CapEff /proc/self/status; chown 5 /work; mount -t tmpfs x /tmp; hostname x; "
      "cat /etc/passwd > /dev/null && echo end",
      {"-u", "0"});
  EXPECT_EQ(outcome.out, "CapEff:\t0000000000000000\nend\n");
}

TEST_F(User, OnTheHostIsTheCallerOrNobodyForRoot) {
  const std::string folder = Folder().MakeDirectory("out");
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  ASSERT_EQ(RunScript("echo > /out/f", testing_support::Writable(folder + ":/out")).status, 0);
  struct stat status = {};
  ASSERT_EQ(::stat((folder + "/f").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, testing_support::GuestHostUid());
}

TEST_F(User, OnTheHostMayBeChosenByRootAlone) {
  const Words flags = {"--host-user", "1234:5678", "--json"};
  if (!IsRoot()) {
    const Outcome outcome = RunScript("echo ran", flags);
    EXPECT_EQ(outcome.status, 125);
    EXPECT_EQ(At(ParseAnswer(outcome), "/refusal/reason"), "request");
    return;
  }
  const std::string folder = Folder().MakeDirectory("out");
  ASSERT_EQ(::chown(folder.c_str(), 1234, 5678), 0);
  Words write = flags;
  write.insert(write.end(), {"-v", folder + ":/out:rw"});
  EXPECT_EQ(RunScript("echo > /out/f; id -u", write).status, 0);
  struct stat status = {};
  ASSERT_EQ(::stat((folder + "/f").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 1234U);
  EXPECT_EQ(status.st_gid, 5678U);
}

TEST_F(User, WhoIsUnknownIsRefusedByName) {
  const Outcome user = RunScript("echo ran", {"-u", "nosuch"});
  EXPECT_EQ(user.status, 125);
  EXPECT_EQ(user.err.substr(0, user.err.find('\n')),
            "plimsoll: --user: the image has no user 'nosuch'");
  const Outcome group = RunScript("echo ran", {"-u", "0:nosuch"});
  EXPECT_EQ(group.status, 125);
  EXPECT_EQ(group.err.substr(0, group.err.find('\n')),
            "plimsoll: --user: the image has no group 'nosuch'");
}

// A guest of root is nobody on the host: it reads what everybody may, and no more.
TEST_F(User, OfRootReadsOnlyWhatEverybodyMay) {
  Folder().WriteFile("workspace/closed", "secret\n", 0600);
  Folder().WriteFile("workspace/open", "open\n", 0644);
  const Outcome outcome = RunScript("cat /src/open; cat /src/closed", {"-v", ".:/src"});
  EXPECT_EQ(outcome.out, IsRoot() ? "open\n" : "open\nsecret\n");
  EXPECT_EQ(RunScript("cat /src/closed", {"-v", ".:/src", "-u", "0"}).out,
            IsRoot() ? "" : "secret\n");
}

TEST_F(User, OfRootMayHaveAStoreThatNobodyElseCanRead) {
  const std::string store = Folder() / "closed/store";
  Folder().MakeDirectory("closed");
  ASSERT_EQ(::chmod((Folder() / "closed").c_str(), 0700), 0);
  EXPECT_EQ(RunScript("exit 8", {"--store", store}).status, 8);
  EXPECT_EQ(RunScript("exit 9", {"--store", store, "--writable-root"}).status, 9);
  struct stat status = {};
  ASSERT_EQ(::stat(store.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077U, 0U);
}

TEST_F(User, HasNoGroupsOfRootsSession) {
  if (IsRoot()) {
    EXPECT_EQ(RunScript("id -G").out, "1000\n");
  } else {
    // The kernel keeps an ordinary caller's groups; those without a name inside show as nobody's.
    EXPECT_EQ(RunScript("id -g").out, "1000\n");
  }
}

TEST_F(User, StartsInTheWorkingDirectory) {
  EXPECT_EQ(RunScript("pwd").out, "/work\n");
  EXPECT_EQ(RunScript("pwd -P", {"-w", "/usr/bin/.."}).out, "/usr\n");
  EXPECT_EQ(RunScript("pwd", {"--workdir", "/src", "-v", ".:/src"}).out, "/src\n");
}

TEST_F(User, InAWorkingDirectoryThatIsNoneIsRefused) {
  EXPECT_EQ(RunScript("echo ran", {"-w", "relative"}).err,
            "plimsoll: --workdir 'relative' is not an absolute path\n");
  for (const std::string path : {"/nonexistent", "/etc/passwd"}) {
    const Outcome outcome = RunScript("echo ran", {"-w", path, "--json"});
    const auto answer = ParseAnswer(outcome);
    EXPECT_EQ(outcome.status, 125);
    EXPECT_EQ(At(answer, "/ran"), "no");
    EXPECT_NE(
        At(answer, "/refusal/message").find("(working-directory), change to directory '" + path),
        std::string::npos);
  }
}

}  // namespace
}  // namespace plimsoll
