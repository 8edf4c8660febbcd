// -v: what the guest sees of the host, what it may change, and which mounts are refused.

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/plimsoll.h"

namespace plimsoll {
namespace {

using testing_support::At;
using testing_support::Command;
using testing_support::GuestHostUid;
using testing_support::IsRoot;
using testing_support::Outcome;
using testing_support::ParseAnswer;
using testing_support::PlimsollTest;
using testing_support::ReadWholeFile;
using testing_support::RunCommand;
using testing_support::Words;
using testing_support::Writable;

class Volumes : public PlimsollTest {
 protected:
  // The refusal of `flags`, which must come before anything runs: reason, blank, message.
  std::string Refusal(Words flags) const {
    flags.emplace_back("--json");
    const Outcome outcome = RunScript("echo ran", flags);
    EXPECT_EQ(outcome.status, 125) << outcome.out;
    const auto answer = ParseAnswer(outcome);
    EXPECT_EQ(At(answer, "/ran"), "no");
    return At(answer, "/refusal/reason") + " " + At(answer, "/refusal/message");
  }

  // A folder that the guest may write, whoever runs the test.
  std::string OpenFolder(const std::string& name) const {
    const std::string path = Folder().MakeDirectory(name);
    EXPECT_EQ(::chmod(path.c_str(), 0777), 0);
    return path;
  }
};

TEST_F(Volumes, AreReadOnlyByDefault) {
  Folder().WriteFile("workspace/f", "host\n");
  for (const std::string suffix : {"", ":ro"}) {
    const Outcome outcome = RunScript("cat /src/f; echo x > /src/f; echo x > /src/new; rm /src/f",
                                      {"-v", Workspace() + ":/src" + suffix});
    EXPECT_EQ(outcome.out, "host\n");
    EXPECT_NE(outcome.err.find("Read-only file system"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.status, 0);
  }
  EXPECT_EQ(ReadWholeFile(Workspace() + "/f"), "host\n");
}

TEST_F(Volumes, CannotBeMadeWritableFromInside) {
  EXPECT_NE(RunScript("mount -o remount,rw /src", {"-v", ".:/src"}).status, 0);
}

TEST_F(Volumes, ThatAreWritableTakeFilesOwnedByTheCaller) {
  const std::string folder = OpenFolder("out");
  const Outcome outcome =
      RunScript("echo made > /out/f && stat -c %u /out/f", Writable(folder + ":/out"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "1000\n");
  EXPECT_EQ(ReadWholeFile(folder + "/f"), "made\n");
  struct stat status = {};
  ASSERT_EQ(::stat((folder + "/f").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, GuestHostUid());
  EXPECT_EQ(status.st_mode & 07777U, 0644U);
}

TEST_F(Volumes, OfRootAreWritableOnlyForANamedUser) {
  const Words flags = {"-v", OpenFolder("out") + ":/out:rw"};
  if (!IsRoot()) {
    EXPECT_EQ(RunScript("echo x > /out/f", flags).status, 0);
    return;
  }
  EXPECT_NE(Refusal(flags).find("is writable and the caller is root"), std::string::npos);
}

TEST_F(Volumes, ARelativeSourceCountsFromTheCurrentDirectory) {
  Folder().MakeDirectory("workspace/inner");
  Folder().WriteFile("workspace/inner/f", "inner\n");
  for (const std::string source : {"inner", "./inner", "../workspace/inner", "inner/"}) {
    EXPECT_EQ(RunScript("cat /src/f", {"-v", source + ":/src"}).out, "inner\n") << source;
  }
}

TEST_F(Volumes, ASourceMayHoldColonsBlanksAndNewlines) {
  for (const std::string name : {"a:b", "a b", "a\nb", "\xff", "-v"}) {
    Folder().MakeDirectory("workspace/" + name);
    Folder().WriteFile("workspace/" + name + "/f", "inner\n");
    EXPECT_EQ(RunScript("cat /src/f", {"-v", name + ":/src"}).out, "inner\n") << name;
  }
}

TEST_F(Volumes, ASourceThroughALinkIsWhereItLeads) {
  Folder().MakeDirectory("real");
  Folder().WriteFile("real/f", "real\n");
  ASSERT_EQ(::symlink("../real", (Workspace() + "/link").c_str()), 0);
  EXPECT_EQ(RunScript("cat /src/f", {"-v", "link:/src"}).out, "real\n");
}

TEST_F(Volumes, AMissingSourceIsRefusedAndNotMade) {
  EXPECT_EQ(Refusal({"-v", "nowhere:/src"}),
            "request --volume source './nowhere': No such file or directory (ENOENT)");
  EXPECT_NE(::access((Workspace() + "/nowhere").c_str(), F_OK), 0);
}

TEST_F(Volumes, ASingleFileIsMountedByItself) {
  Folder().WriteFile("workspace/one", "one\n");
  Folder().WriteFile("workspace/other", "other\n");
  EXPECT_EQ(RunScript("cat /work/f; ls /work", {"-v", "one:/work/f"}).out, "one\nf\n");
  EXPECT_EQ(RunScript("cat /opt/deep/f", {"-v", "one:/opt/deep/f"}).out, "one\n");
  EXPECT_EQ(RunScript("cat /etc/hosts", {"-v", "one:/etc/hosts"}).out, "one\n");
}

TEST_F(Volumes, OnAPathThatTheImageLacksLeaveTheRestReadOnly) {
  Folder().WriteFile("workspace/f", "host\n");
  const Outcome outcome =
      RunScript("cat /deep/in/here/f; echo x > /deep/x; echo x > /new; mkdir /deep/in/y; true",
                {"-v", ".:/deep/in/here"});
  EXPECT_EQ(outcome.out, "host\n");
  EXPECT_EQ(outcome.status, 0);
  std::size_t refused = 0;
  for (std::size_t at = 0; (at = outcome.err.find("Read-only", at)) != std::string::npos; ++at) {
    ++refused;
  }
  EXPECT_EQ(refused, 3U) << outcome.err;
}

TEST_F(Volumes, NestInAnyOrderOfTheFlags) {
  Folder().MakeDirectory("outer/inner");
  Folder().WriteFile("outer/inner/hidden", "");
  Folder().MakeDirectory("inside");
  Folder().WriteFile("inside/f", "inside\n");
  const std::string outer = Folder() / "outer:/src";
  const std::string inner = Folder() / "inside:/src/inner";
  for (const Words& flags : {Words{"-v", outer, "-v", inner}, Words{"-v", inner, "-v", outer}}) {
    EXPECT_EQ(RunScript("ls /src /src/inner", flags).out, "/src:\ninner\n\n/src/inner:\nf\n");
  }
  EXPECT_NE(
      Refusal({"-v", outer, "-v", Folder() / "inside:/src/nowhere"}).find("is no mount point"),
      std::string::npos);
  EXPECT_NE(::access((Folder() / "outer/nowhere").c_str(), F_OK), 0);
}

TEST_F(Volumes, AWritableOneInsideAReadOnlyOneIsWritable) {
  Folder().MakeDirectory("outer");
  OpenFolder("outer/inner");
  Words flags = Writable(Folder() / "outer/inner:/src/inner");
  flags.insert(flags.end(), {"-v", Folder() / "outer:/src"});
  const Outcome outcome = RunScript("echo x > /src/inner/f; echo x > /src/f", flags);
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(ReadWholeFile(Folder() / "outer/inner/f"), "x\n");
}

TEST_F(Volumes, OnOneTargetTwiceAreRefused) {
  Folder().MakeDirectory("workspace/a");
  Folder().MakeDirectory("workspace/b");
  const std::string refusal = Refusal({"-v", "a:/src", "-v", "b:/src/"});
  EXPECT_NE(refusal.find("'/src' is given twice, for '" + Workspace() + "/a' and '" + Workspace() +
                         "/b'"),
            std::string::npos)
      << refusal;
}

TEST_F(Volumes, OnALinkOfTheImageAreRefused) {
  // /dev/fd is a link of the tree; busybox's names are links too.
  EXPECT_NE(Refusal({"-v", "/etc/passwd:/bin/ls"}).find("symbolic link"), std::string::npos);
}

TEST_F(Volumes, ThatWouldReplaceThePartsOfTheSandboxAreRefused) {
  for (const std::string target :
       {"/", "/proc", "/proc/self", "/dev", "/dev/fd/0", "/dev/pts", "/sys", "//proc/", "/./dev"}) {
    EXPECT_NE(Refusal({"-v", ".:" + target}).find("would replace a part of the sandbox"),
              std::string::npos)
        << target;
  }
  for (const std::string target : {"/a/../b", "/.."}) {
    EXPECT_NE(Refusal({"-v", ".:" + target}).find("absolute path without '..'"), std::string::npos)
        << target;
  }
}

TEST_F(Volumes, OfTheHostsProcAreRefused) {
  EXPECT_NE(Refusal({"-v", "/proc:/src"}).find("the guest has its own"), std::string::npos);
  EXPECT_NE(Refusal({"-v", "/proc/self/root:/src"}).find("contains"), std::string::npos);
}

TEST_F(Volumes, AFileOverAFolderAndTheOtherWayRoundAreRefused) {
  EXPECT_NE(Refusal({"-v", "/etc/passwd:/usr"}).find("is a directory in the image"),
            std::string::npos);
  EXPECT_NE(Refusal({"-v", ".:/etc/passwd"}).find("is a file in the image"), std::string::npos);
}

TEST_F(Volumes, SocketsPipesAndDevicesAreRefusedUnlessAllowed) {
  const std::string path = Workspace() + "/socket";
  const sys::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
      << path;
  ASSERT_EQ(::mkfifo((Workspace() + "/fifo").c_str(), 0600), 0);
  for (const std::string source : {"socket", "fifo", "/dev/null"}) {
    EXPECT_EQ(Refusal({"-v", source + ":/work/x"}).substr(0, 28), "permission --volume source '")
        << source;
  }
  EXPECT_EQ(RunScript("test -S /work/x", {"-v", "socket:/work/x", "--volume-sockets"}).status, 0);
}

TEST_F(Volumes, OfOurOwnFilesAreRefusedBothWays) {
  ASSERT_EQ(RunExec({"--", "true"}).status, 0);  // the store is there
  const std::string parent = StorePath().substr(0, StorePath().rfind('/'));
  for (const std::string& source :
       {StorePath(), parent, StorePath() + "/trees", std::string("/")}) {
    EXPECT_EQ(Refusal({"-v", source + ":/src"}).substr(0, 28), "permission --volume source '")
        << source;
  }
  ASSERT_EQ(::symlink(StorePath().c_str(), (Workspace() + "/alias").c_str()), 0);
  EXPECT_EQ(Refusal({"-v", "alias:/src"}).substr(0, 28), "permission --volume source '");
  Folder().MakeDirectory("home/.config/plimsoll");
  EXPECT_EQ(Refusal({"-v", Home() + ":/src"}).substr(0, 28), "permission --volume source '");
}

TEST_F(Volumes, OfOurOwnFilesAreRefusedThroughAnyMount) {
  ASSERT_EQ(RunExec({"--", "true"}).status, 0);  // the store is there
  Folder().MakeDirectory("workspace/around/inner");
  const std::string parent = StorePath().substr(0, StorePath().rfind('/'));
  for (const std::string& mounted : {StorePath(), parent, StorePath() + "/trees"}) {
    for (const std::string point : {"around", "around/inner"}) {
      Command command = Script("echo ran", {"-v", "around:/src"});
      command.arguments.insert(
          command.arguments.begin(),
          {"/usr/bin/unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-ec",
           "mount --bind \"$0\" \"$1\"; shift; exec \"$@\"", mounted, point});
      const Outcome outcome = RunCommand(std::move(command));
      EXPECT_EQ(outcome.status, 125) << mounted << " on " << point << ": " << outcome.out;
      EXPECT_NE(outcome.err.find("where plimsoll keeps its own files"), std::string::npos)
          << outcome.err;
    }
  }
}

TEST_F(Volumes, BringTheMountsBeneathThemAlong) {
  Folder().MakeDirectory("workspace/around/inner");
  Folder().MakeDirectory("other");
  Folder().WriteFile("other/f", "other\n");
  Command command = Script("cat /src/inner/f; echo x > /src/inner/g", {"-v", "around:/src"});
  command.arguments.insert(
      command.arguments.begin(),
      {"/usr/bin/unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-ec",
       "mount --bind \"$0\" around/inner; exec \"$@\"", Folder() / "other"});
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.out, "other\n") << outcome.err;
  EXPECT_NE(outcome.err.find("Read-only file system"), std::string::npos) << outcome.err;
  EXPECT_NE(::access((Folder() / "other/g").c_str(), F_OK), 0);
}

TEST_F(Volumes, WhatTheHostRunsLaterStaysReadOnly) {
  const std::string folder = OpenFolder("repository");
  for (const std::string name : {".git", ".vscode", ".idea", ".husky"}) {
    OpenFolder("repository/" + name);
    Folder().WriteFile("repository/" + name + "/config", "old\n", 0666);
  }
  Folder().WriteFile("repository/.envrc", "old\n", 0666);
  const std::string script =
      "cd /src; echo new > free; for f in .git/config .vscode/config .idea/config .husky/config "
      ".envrc; do cat $f; echo new > $f; done; mv .git moved; rm -r .git; true";
  RunScript(script, Writable(folder + ":/src"));
  EXPECT_EQ(ReadWholeFile(folder + "/free"), "new\n");
  for (const std::string name :
       {".git/config", ".vscode/config", ".idea/config", ".husky/config", ".envrc"}) {
    EXPECT_EQ(ReadWholeFile(folder + "/" + name), "old\n") << name;
  }
  Words all = Writable(folder + ":/src");
  all.emplace_back("--volume-all");
  RunScript("echo new > /src/.git/config; echo new > /src/.envrc", all);
  EXPECT_EQ(ReadWholeFile(folder + "/.git/config"), "new\n");
  EXPECT_EQ(ReadWholeFile(folder + "/.envrc"), "new\n");
}

TEST_F(Volumes, WhatTheHostWouldRunLaterAndIsNewIsNamedAtTheEnd) {
  const std::string folder = OpenFolder("fresh");
  ASSERT_EQ(::symlink("elsewhere", (folder + "/.idea").c_str()), 0);
  const std::string script = "cd /src; mkdir .git; rm .idea; mkdir .idea; echo x > other";
  const Outcome named = RunScript(script, Writable(folder + ":/src"));
  EXPECT_NE(named.err.find("the guest made '" + folder + "/.git'"), std::string::npos) << named.err;
  EXPECT_NE(named.err.find("/.idea'"), std::string::npos) << named.err;
  EXPECT_EQ(named.err.find("/.envrc'"), std::string::npos) << named.err;
  EXPECT_EQ(named.status, 0);
  EXPECT_EQ(RunScript("true", Writable(folder + ":/src")).err, "");
}

TEST_F(Volumes, NothingIsAddedToTheHostByMountPoints) {
  const auto before = testing_support::ListTree(Folder().Path());
  RunScript("true", {"-v", ".:/a/b/c", "-v", "/etc/passwd:/work/x/y"});
  EXPECT_EQ(testing_support::ListTree(Folder().Path()), before);
}

}  // namespace
}  // namespace plimsoll
