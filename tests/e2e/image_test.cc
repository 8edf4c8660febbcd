// The image commands as a user meets them: every source, every answer, every refusal.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/plimsoll.h"
#include "support/tar_builder.h"

namespace plimsoll::testing_support {
namespace {

// What the embedded image is made of serves as the content of images here, too.
std::string Busybox() {
  return ReadWholeFile("/bin/busybox");
}

TarBuilder SmallLayer(const std::string& word) {
  TarBuilder tar;
  tar.Directory("bin").File("bin/busybox", Busybox(), {.mode = 0755}).Symlink("bin/sh", "busybox");
  tar.Symlink("bin/cat", "busybox").Symlink("bin/stat", "busybox").File("etc/word", word);
  return tar;
}

class Image : public PlimsollTest {
 protected:
  Image() : store_(Folder() / "store") {}

  // "plimsoll image WORDS... --store STORE".
  Outcome Run(Words words) const {
    words.insert(words.begin(), "image");
    words.insert(words.end(), {"--store", store_});
    return RunCommand(Plimsoll(std::move(words)));
  }
  Outcome RunIn(const std::string& image, Words command) const {
    Words words = {"--store", store_, "--image", image, "--"};
    words.insert(words.end(), command.begin(), command.end());
    return RunExec(std::move(words));
  }

  BuiltImage MakeLayout(const std::string& name, const TarBuilder& tar,
                        const std::string& ref_name = "1.0") const {
    const std::string plain = tar.Finish();
    BuiltImage image = BuildImage({.layers = {Gzip(plain)}, .layer_tars = {plain}});
    WriteFiles(Workspace() + "/" + name, LayoutFiles(image, ref_name));
    return image;
  }

  std::string store_;
};

TEST_F(Image, IsImportedListedShownRunVerifiedAndRemoved) {
  const BuiltImage image = MakeLayout("tool", SmallLayer("hello"));
  const Outcome imported = Run({"import", "tool", "--json"});
  ASSERT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(At(ParseAnswer(imported), "/images/0/name"), "tool:1.0");
  EXPECT_EQ(At(ParseAnswer(imported), "/images/0/manifest"), image.manifest_digest);
  EXPECT_EQ(imported.err, "plimsoll: unpack layer 1 of 1\nplimsoll: merge the layers\n");

  EXPECT_EQ(RunIn("tool:1.0", {"cat", "/etc/word"}).out, "hello");
  EXPECT_EQ(At(ParseAnswer(Run({"ls", "--json"})), "/images"), "1") << "the pin is not told twice";
  const Outcome shown = Run({"inspect", "tool:1.0", "--json"});
  EXPECT_EQ(At(ParseAnswer(shown), "/config/cmd/0"), "sh");
  EXPECT_EQ(At(ParseAnswer(shown), "/layers/0/files"), "2");

  const Outcome verified = Run({"verify", "tool:1.0", "--json", "-q"});
  EXPECT_EQ(verified.status, 0) << verified.out;
  EXPECT_EQ(At(ParseAnswer(verified), "/problems"), "0");

  const Outcome removed = Run({"rm", "tool:1.0", "--json"});
  EXPECT_EQ(At(ParseAnswer(removed), "/removed/0"), "tool:1.0");
  EXPECT_EQ(At(ParseAnswer(Run({"ls", "--json"})), "/images"), "0");
  EXPECT_EQ(RunIn("tool:1.0", {"true"}).status, 125);
}

TEST_F(Image, ListsAndShowsForPeople) {
  MakeLayout("tool", SmallLayer("x").CharacterDevice("dev/sda").File("s", "", {.mode = 04755}));
  const Outcome imported = Run({"import", "tool"});
  ASSERT_EQ(imported.status, 0) << imported.err;
  EXPECT_NE(imported.err.find("1 device nodes or sockets were left out"), std::string::npos);
  EXPECT_TRUE(imported.out.starts_with("NAME      MANIFEST      SIZE      IMPORTED\ntool:1.0  "))
      << imported.out;
  const Outcome shown = Run({"inspect", "tool:1.0"});
  EXPECT_NE(shown.out.find("(1 devices left out, 1 set-ids dropped)"), std::string::npos)
      << shown.out;
  EXPECT_NE(shown.out.find("source      'tool'\n"), std::string::npos);
}

TEST_F(Image, RunsFromPathsWithoutAnImport) {
  const BuiltImage image = MakeLayout("layout", SmallLayer("path"));
  std::ofstream(Workspace() + "/a.tar") << TarOf(LayoutFiles(image, ""));
  for (const char* reference : {"oci:layout", "oci:layout:1.0", "oci-archive:a.tar"}) {
    const Outcome outcome = RunIn(reference, {"cat", "/etc/word"});
    EXPECT_EQ(outcome.out, "path") << reference << ": " << outcome.err;
  }
  EXPECT_EQ(RunIn("@" + image.manifest_digest, {"cat", "/etc/word"}).out, "path");
}

TEST_F(Image, IsNamedInTheResponseByItsDigest) {
  const BuiltImage image = MakeLayout("tool", SmallLayer("x"));
  ASSERT_EQ(Run({"import", "tool"}).status, 0);
  const Outcome outcome =
      RunCommand(Exec({"--store", store_, "--image", "tool@" + image.manifest_digest, "--json",
                       "--", "sh", "-c", ":"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("oci-image:" + image.manifest_digest), std::string::npos);
}

TEST_F(Image, WithASetIdProgramGivesItNoBit) {
  MakeLayout("tool", SmallLayer("x").File("bin/prog", "#!/bin/sh\n", {.mode = 04755}));
  EXPECT_EQ(RunIn("oci:tool", {"stat", "-c", "%a", "/bin/prog"}).out, "755\n");
}

TEST_F(Image, ThatUnpacksToMoreThanAllowedLeavesNothing) {
  MakeLayout("bomb", TarBuilder().File("zeros", std::string(std::size_t{4} << 20U, '\0')));
  const Outcome outcome = Run({"import", "bomb", "--max-size", "1M", "-q"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_NE(outcome.err.find("entry 'zeros' makes the files larger than 1 MiB"), std::string::npos)
      << outcome.err;
  for (const char* folder : {"tmp", "layers", "trees", "images", "blobs/sha256"}) {
    EXPECT_TRUE(std::filesystem::is_empty(store_ + "/" + folder)) << folder;
  }
}

TEST_F(Image, WithAHostileLayerIsRefusedByTheEntrysName) {
  MakeLayout("evil", TarBuilder().Hardlink("loot", "../../../../etc/shadow"));
  const Outcome outcome = Run({"import", "evil", "-q"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_NE(outcome.err.find("entry 'loot'"), std::string::npos) << outcome.err;
}

TEST_F(Image, VerificationNamesTheFileThatDiffersAndExits1) {
  MakeLayout("tool", SmallLayer("hello"));
  ASSERT_EQ(Run({"import", "tool"}).status, 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store_ + "/layers")) {
    if (entry.path().filename() == "word") std::ofstream(entry.path()) << "HELLO";
  }
  const Outcome outcome = Run({"verify", "-q"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("'etc/word' has other content"), std::string::npos) << outcome.out;
}

TEST_F(Image, RunByPathIsListedWithoutANameAndRemovedByItsDigest) {
  const BuiltImage image = MakeLayout("layout", SmallLayer("path"));
  ASSERT_EQ(RunIn("oci:layout", {"sh", "-c", ":"}).status, 0);
  const std::string listed = Run({"ls"}).out;
  EXPECT_TRUE(listed.starts_with("NAME    MANIFEST ")) << listed;
  EXPECT_NE(listed.find("\n<none>  " + image.manifest_digest + "  "), std::string::npos) << listed;
  const Outcome shown = Run({"inspect", image.manifest_digest});
  EXPECT_TRUE(shown.out.starts_with("name        <none>\n")) << shown.out << shown.err;

  const Outcome removed = Run({"rm", image.manifest_digest});
  EXPECT_TRUE(removed.out.starts_with("removed " + image.manifest_digest + "\nfreed "))
      << removed.out << removed.err;
  EXPECT_EQ(removed.out.find("freed 0 B"), std::string::npos) << removed.out;
  EXPECT_EQ(Run({"ls"}).out, "NAME  MANIFEST      SIZE      IMPORTED\n");
}

TEST_F(Image, RunByPathWithANameIsListedByIt) {
  const BuiltImage image = MakeLayout("tool", SmallLayer("x"));
  ASSERT_EQ(RunIn("oci:tool", {"sh", "-c", ":"}).status, 0);
  ASSERT_EQ(Run({"import", "tool"}).status, 0);
  ASSERT_EQ(RunIn("oci:tool", {"sh", "-c", ":"}).status, 0);
  const auto listed = ParseAnswer(Run({"ls", "--json"}));
  EXPECT_EQ(At(listed, "/images"), "1");
  EXPECT_EQ(At(listed, "/images/0/name"), "tool:1.0");
  const auto removed = ParseAnswer(Run({"rm", "tool:1.0", "--json"}));
  const std::uint64_t freed = std::stoull(At(removed, "/freed"));
  EXPECT_GT(freed, Busybox().size() * 5 / 4) << "the unpacked layer, and a blob";
  EXPECT_EQ(freed, std::stoull(At(removed, "/freed_blobs")) +
                       std::stoull(At(removed, "/freed_layers")) +
                       std::stoull(At(removed, "/freed_trees")));
  EXPECT_TRUE(std::filesystem::is_empty(store_ + "/images"));
}

struct Failure {
  Words words;
  std::string reason;
  std::string message;
};

TEST_F(Image, FailuresAreOneDocumentWithJsonAndASentenceAnyway) {
  const BuiltImage image = MakeLayout("damaged", SmallLayer("x"));
  const std::string blob = "/damaged/blobs/sha256/" + image.blobs.front().first;
  std::ofstream(Workspace() + blob) << "something else";
  WriteFiles(Workspace(), {{"text", "no archive"}});
  const std::string unknown = "the store has no image 'nosuch:latest'";
  const std::vector<Failure> failures = {
      {{"inspect", "nosuch"}, "environment", unknown},
      {{"rm", "nosuch"}, "environment", unknown},
      {{"verify", "nosuch"}, "environment", unknown},
      {{"inspect", "No Name"}, "request", "image 'No Name': "},
      {{"import", "nosuch"}, "environment", "image 'nosuch': "},
      {{"import", "text"}, "protocol", "image 'text': "},
      {{"import", "damaged", "-q"}, "environment", "image 'damaged': "},
      {{"ls", "--nosuch"}, "request", "unknown flag '--nosuch'"},
      {{"nosuch"}, "request", "unknown image command 'nosuch'"},
  };
  for (const Failure& failure : failures) {
    Words words = failure.words;
    words.insert(words.begin() + 1, "--json");
    const Outcome outcome = Run(words);
    const auto answer = ParseAnswer(outcome);
    EXPECT_EQ(outcome.status, 125) << failure.message;
    EXPECT_EQ(At(answer, "/refusal/reason"), failure.reason) << outcome.out;
    const std::string message = At(answer, "/refusal/message");
    EXPECT_TRUE(message.starts_with(failure.message)) << message;
    EXPECT_NE(outcome.err.find("plimsoll: " + message + "\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(Run(failure.words).out, "") << failure.message;
  }
}

TEST_F(Image, VerificationCountsAManifestOnce) {
  MakeLayout("tool", SmallLayer("x"));
  ASSERT_EQ(Run({"import", "tool"}).status, 0);
  ASSERT_EQ(Run({"import", "tool", "--name", "other"}).status, 0);
  EXPECT_EQ(Run({"verify", "-q"}).out,
            "1 image: 3 blobs, 1 layer and 1 tree verified, 0 differences\n");
}

TEST_F(Image, FlagsMayFollowOperandsAndHelpIsThere) {
  MakeLayout("tool", SmallLayer("x"));
  EXPECT_EQ(Run({"import", "--name", "a:1", "tool", "-q"}).status, 0);
  EXPECT_EQ(Run({"import", "tool", "-q", "--name=b:1"}).status, 0);
  EXPECT_EQ(RunCommand(Plimsoll({"image", "import", "--store", store_, "-q", "--", "tool"})).status,
            0);
  for (const char* command : {"import", "ls", "inspect", "rm", "verify"}) {
    const Outcome help = RunCommand(Plimsoll({"image", command, "-h"}));
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.out.find("Usage: plimsoll image " + std::string(command)), std::string::npos);
  }
  EXPECT_EQ(RunCommand(Plimsoll({"image", "-h"})).status, 0);
}

TEST_F(Image, WorksWhateverTheUmask) {
  MakeLayout("tool", SmallLayer("x"));
  Command command = Plimsoll({"image", "import", "tool", "-q", "--store", store_});
  command.prepare = [] { (void)::umask(0777); };
  const Outcome outcome = RunCommand(std::move(command));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(RunIn("tool:1.0", {"cat", "/etc/word"}).out, "x");
}

}  // namespace
}  // namespace plimsoll::testing_support
