// Unpacking one layer: what it makes, what it leaves out, what it refuses, and that nothing outside
// its directory ever changes.
#include "image/layer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/tar_builder.h"
#include "support/temp_dir.h"
#include "sys/file.h"

namespace plimsoll::image {
namespace {

using testing_support::EntryOptions;
using testing_support::Gzip;
using testing_support::ReadWholeFile;
using testing_support::TarBuilder;
using testing_support::TempDir;
using testing_support::Zstd;

// A layer's directory, and beside it what a hostile layer would like to reach.
class UnpackLayerTest : public ::testing::Test {
 protected:
  UnpackLayerTest() {
    dir_.MakeDirectory("layer");
    dir_.MakeDirectory("outside");
    dir_.WriteFile("outside/secret", "secret");
    (void)::chmod((dir_ / "outside/secret").c_str(), 0640);
  }

  Result<UnpackedLayer> Unpack(const std::string& blob, const Limits& limits = {},
                               const ExpectedLayer& expected = {}) {
    const auto fd = sys::Open(dir_ / "layer", O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(fd);
    return UnpackLayer({.fd = -1, .bytes = blob, .name = "test"}, expected, limits, fd->Get());
  }

  LayerFacts Facts(const TarBuilder& tar) {
    const auto layer = Unpack(tar.Finish());
    EXPECT_TRUE(layer) << layer.error().Message();
    return layer ? layer->facts : LayerFacts{};
  }

  std::string WhyNot(const TarBuilder& tar, const Limits& limits = {}) {
    const auto layer = Unpack(tar.Finish(), limits);
    return layer ? "" : layer.error().Message();
  }

  std::string In(const std::string& path) const { return dir_ / ("layer/rootfs/" + path); }

  struct stat Status(const std::string& path) const {
    struct stat status = {};
    EXPECT_EQ(::lstat(In(path).c_str(), &status), 0) << path;
    return status;
  }
  bool Exists(const std::string& path) const {
    struct stat status = {};
    return ::lstat(In(path).c_str(), &status) == 0;
  }

  // The property of every hostile case.
  void ExpectOutsideUntouched() const {
    EXPECT_EQ(ReadWholeFile(dir_ / "outside/secret"), "secret");
    struct stat status = {};
    ASSERT_EQ(::stat((dir_ / "outside/secret").c_str(), &status), 0);
    EXPECT_EQ(status.st_nlink, 1U);
    EXPECT_EQ(status.st_mode & 07777U, 0640U);
    std::size_t entries = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_ / "outside")) {
      (void)entry;
      ++entries;
    }
    EXPECT_EQ(entries, 1U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.Path()), {}), 2);
  }

  TempDir dir_;
};

TEST_F(UnpackLayerTest, MakesFilesDirectoriesLinksAndFifos) {
  TarBuilder tar;
  tar.Directory("etc/", {.mode = 0750}).File("etc/motd", "hello\n", {.mode = 0640});
  tar.Symlink("etc/link", "/etc/motd").Hardlink("etc/hard", "etc/motd").Fifo("run/pipe");
  const LayerFacts facts = Facts(tar);
  EXPECT_EQ(ReadWholeFile(In("etc/motd")), "hello\n");
  EXPECT_EQ(Status("etc/motd").st_mode, 0100640U);
  EXPECT_EQ(Status("etc/motd").st_mtime, 1000000000);
  EXPECT_EQ(Status("etc").st_mode & 07777U, 0750U);
  EXPECT_EQ(Status("etc").st_mtime, 1000000000) << "set after the files in it";
  EXPECT_EQ(std::filesystem::read_symlink(In("etc/link")), "/etc/motd");
  EXPECT_EQ(Status("etc/link").st_mtime, 1000000000);
  EXPECT_EQ(Status("etc/hard").st_ino, Status("etc/motd").st_ino);
  EXPECT_TRUE(S_ISFIFO(Status("run/pipe").st_mode));
  EXPECT_EQ(facts.entries, 5U);
  EXPECT_EQ(facts.files, 1U);
  EXPECT_EQ(facts.implied, std::vector<std::string>{"run"});
}

TEST_F(UnpackLayerTest, ReadsPlainGzipAndZstdAlike) {
  const std::string tar = TarBuilder().File("a", std::string(700000, 'x')).Finish();
  const ExpectedLayer same = {.blob = {},
                              .diff_id = *oci::ParseDigest(testing_support::DigestOf(tar))};
  for (const std::string& blob :
       {tar, Gzip(tar), Zstd(tar), Gzip(tar.substr(0, 1000)) + Gzip(tar.substr(1000))}) {
    const auto layer = Unpack(blob, {}, same);
    ASSERT_TRUE(layer) << layer.error().Message();
    EXPECT_EQ(layer->blob.digest.ToString(), testing_support::DigestOf(blob));
    EXPECT_EQ(Status("a").st_size, 700000);
    ASSERT_TRUE(std::filesystem::remove_all(dir_ / "layer"));
    dir_.MakeDirectory("layer");
  }
}

TEST_F(UnpackLayerTest, AnEmptyTarIsAnEmptyLayer) {
  EXPECT_EQ(Facts(TarBuilder()).entries, 0U);
  EXPECT_TRUE(std::filesystem::is_empty(In("")));
}

TEST_F(UnpackLayerTest, LaterEntriesReplaceEarlierOnes) {
  TarBuilder tar;
  tar.File("a", "old").File("d/x", "old").Symlink("s", "/nowhere");
  tar.File("a", "new").File("d", "now a file").Directory("s").File("s/in", "now a directory");
  Facts(tar);
  EXPECT_EQ(ReadWholeFile(In("a")), "new");
  EXPECT_EQ(ReadWholeFile(In("d")), "now a file");
  EXPECT_EQ(ReadWholeFile(In("s/in")), "now a directory");
}

TEST_F(UnpackLayerTest, KeepsLongNamesAndSparseSizes) {
  const std::string name = "d/" + std::string(200, 'n');
  TarBuilder tar;
  tar.File(name, "x");
  // A GNU sparse file, version 1.0: the map stands before the data, the real size in the header.
  const std::string map = "1\n1048576\n4\n";
  std::string content = map + std::string(512 - map.size(), '\0') + "data";
  tar.File("GNUSparseFile.0/sparse", content,
           {.pax = {{"GNU.sparse.major", "1"},
                    {"GNU.sparse.minor", "0"},
                    {"GNU.sparse.name", "sparse"},
                    {"GNU.sparse.realsize", "2097152"}}});
  Facts(tar);
  EXPECT_EQ(ReadWholeFile(In(name)), "x");
  EXPECT_EQ(Status("sparse").st_size, 2097152);
  EXPECT_LT(Status("sparse").st_blocks * 512, 1048576) << "holes stay holes";
  EXPECT_EQ(ReadWholeFile(In("sparse")).substr(1048576, 4), "data");
}

TEST_F(UnpackLayerTest, KeepsNamesThatAreNoUtf8) {
  Facts(TarBuilder().File("caf\xe9", "x").File("caf\xc3\xa9", "y"));
  EXPECT_EQ(ReadWholeFile(In("caf\xe9")), "x");
  EXPECT_EQ(ReadWholeFile(In("caf\xc3\xa9")), "y");
}

TEST_F(UnpackLayerTest, KeepsPaxNamesOutsideAscii) {
  Facts(TarBuilder().File("short", "x", {.pax = {{"path", "na\xc3\xafve"}}}));
  EXPECT_EQ(ReadWholeFile(In("na\xc3\xafve")), "x");
}

TEST_F(UnpackLayerTest, UnreadableDirectoriesDoNotBreakUnpacking) {
  TarBuilder tar;
  tar.Directory("closed", {.mode = 0}).File("closed/in", "x", {.mode = 0});
  Facts(tar);
  EXPECT_EQ(Status("closed").st_mode & 07777U, 0500U) << "the owner may always enter";
  EXPECT_EQ(Status("closed/in").st_mode & 07777U, 0400U) << "and read";
}

TEST_F(UnpackLayerTest, DropsSetIdBitsAndKeepsTheStickyBit) {
  TarBuilder tar;
  tar.File("su", "x", {.mode = 06755}).Directory("tmp", {.mode = 03777});
  EXPECT_EQ(Facts(tar).set_ids, 1U);
  EXPECT_EQ(Status("su").st_mode & 07777U, 0755U);
  EXPECT_EQ(Status("tmp").st_mode & 07777U, 01777U);
}

TEST_F(UnpackLayerTest, SquashesOwnersAndRecordsThem) {
  TarBuilder tar;
  tar.File("a", "x", {.uid = 42, .gid = 42}).File("b", "x", {.uid = 65534, .gid = 65534});
  tar.File("c", "x", {.uid = 42, .gid = 42});
  EXPECT_EQ(Facts(tar).owners, 3U);
  EXPECT_EQ(Status("a").st_uid, ::geteuid());
  EXPECT_EQ(
      ReadWholeFile(dir_ / "layer/owners.json"),
      "{\n  \"42:42\": [\n    \"a\",\n    \"c\"\n  ],\n  \"65534:65534\": [\n    \"b\"\n  ]\n}\n");
}

TEST_F(UnpackLayerTest, LeavesDevicesOutAndGoesOn) {
  TarBuilder tar;
  tar.CharacterDevice("dev/null").Header("dev/sda", '4', "", 0).File("after", "x");
  EXPECT_EQ(Facts(tar).devices, 2U);
  EXPECT_FALSE(Exists("dev/null"));
  EXPECT_TRUE(Exists("after"));
}

TEST_F(UnpackLayerTest, WhiteoutsAreFactsAndNoFiles) {
  TarBuilder tar;
  tar.File("d/.wh.old", "").File("o/.wh..wh..opq", "").File(".wh..wh.plnk/1.2", "");
  const LayerFacts facts = Facts(tar);
  EXPECT_EQ(facts.whiteouts, std::vector<std::string>{"d/old"});
  EXPECT_EQ(facts.opaque, std::vector<std::string>{"o"});
  EXPECT_FALSE(Exists("d/.wh.old"));
  EXPECT_FALSE(Exists("d")) << "a whiteout makes no directory";
  EXPECT_TRUE(Exists("o"));
  EXPECT_FALSE(Exists(".wh..wh.plnk"));
}

TEST_F(UnpackLayerTest, RefusesWhiteoutsOfNoName) {
  EXPECT_EQ(WhyNot(TarBuilder().File("d/.wh...", "")),
            "layer test: whiteout 'd/.wh...' hides no name");
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, LinksToLayersBelowAreFacts) {
  TarBuilder tar;
  tar.Hardlink("bin/new", "bin/old").File("bin/other", "x");
  const LayerFacts facts = Facts(tar);
  EXPECT_EQ(facts.links,
            (std::vector<std::pair<std::string, std::string>>{{"bin/new", "bin/old"}}));
  EXPECT_FALSE(Exists("bin/new"));
}

// Hostile layers. Each is refused or confined, and nothing outside changes.

TEST_F(UnpackLayerTest, RefusesToWriteThroughASymlinkToTheHost) {
  TarBuilder tar;
  tar.Symlink("d", dir_ / "outside").File("d/secret", "overwritten").File("d/x", "new");
  EXPECT_EQ(WhyNot(tar),
            "layer test: entry 'd/secret': 'd' leads through a symbolic link of the layer");
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, RefusesToWriteThroughARelativeSymlink) {
  TarBuilder tar;
  tar.Symlink("d", "../../outside").Directory("d/made");
  EXPECT_NE(WhyNot(tar), "");
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, ReplacesASymlinkInsteadOfFollowingIt) {
  TarBuilder tar;
  tar.Symlink("f", dir_ / "outside/secret").File("f", "mine");
  tar.Symlink("m", dir_ / "outside/secret").Directory("m", {.mode = 0777});
  tar.Symlink("p", dir_ / "outside/secret").Fifo("p", {.mode = 0777});
  Facts(tar);
  EXPECT_EQ(ReadWholeFile(In("f")), "mine");
  EXPECT_TRUE(S_ISREG(Status("f").st_mode));
  EXPECT_TRUE(S_ISDIR(Status("m").st_mode));
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, ReplacingADirectoryRemovesLinksAndNotTheirTargets) {
  TarBuilder tar;
  tar.Symlink("d/link", dir_ / "outside").File("d", "a file now");
  Facts(tar);
  EXPECT_EQ(ReadWholeFile(In("d")), "a file now");
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, RefusesAHardLinkOutAndNamesTheEntry) {
  EXPECT_EQ(WhyNot(TarBuilder().Hardlink("loot", "../../../../etc/shadow")),
            "layer test: entry 'loot': entry name '../../../../etc/shadow' has a component '..'");
  EXPECT_FALSE(Exists("loot"));
}

TEST_F(UnpackLayerTest, RefusesAHardLinkThroughASymlink) {
  TarBuilder tar;
  tar.Symlink("d", dir_ / "outside").Hardlink("loot", "d/secret");
  EXPECT_EQ(WhyNot(tar),
            "layer test: entry 'loot': 'd/secret' leads through a symbolic link of the layer");
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, AHardLinkToASymlinkIsTheLinkItself) {
  TarBuilder tar;
  tar.Symlink("s", dir_ / "outside/secret").Hardlink("h", "s").File("h", "mine");
  Facts(tar);
  EXPECT_EQ(ReadWholeFile(In("h")), "mine");
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, RefusesHardLinksToDirectories) {
  EXPECT_EQ(WhyNot(TarBuilder().Directory("d").Hardlink("h", "d")),
            "layer test: entry 'h': it is a hard link to a directory");
}

TEST_F(UnpackLayerTest, RefusesNamesThatLeadUp) {
  for (const char* name : {"../x", "a/../../x", "..", "a/.."}) {
    EXPECT_EQ(WhyNot(TarBuilder().File(name, "x")),
              "layer test: entry name '" + std::string(name) + "' has a component '..'");
    std::filesystem::remove_all(dir_ / "layer");
    dir_.MakeDirectory("layer");
  }
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, RefusesASymlinkWhoseNameLeadsUp) {
  EXPECT_NE(WhyNot(TarBuilder().Symlink("../../link", "/etc")), "");
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, ConfinesAbsoluteNames) {
  Facts(TarBuilder().File(dir_ / "outside/secret", "x").File("//y", "y").File("./z", "z"));
  EXPECT_EQ(ReadWholeFile(In(dir_ / "outside/secret")), "x");
  EXPECT_EQ(ReadWholeFile(In("y")), "y");
  EXPECT_EQ(ReadWholeFile(In("z")), "z");
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, RefusesComponentsThatAreTooLong) {
  EXPECT_NE(WhyNot(TarBuilder().File("d/" + std::string(300, 'n'), "x"))
                .find("has a component longer than 255 bytes"),
            std::string::npos);
}

TEST_F(UnpackLayerTest, ANulEndsAName) {
  Facts(TarBuilder().File(std::string_view("a\0/../../b", 10), "x"));
  EXPECT_TRUE(Exists("a")) << "tar names are C strings: what follows the NUL does not exist";
  ExpectOutsideUntouched();
}

TEST_F(UnpackLayerTest, ARootThatIsNoDirectoryIsRefused) {
  EXPECT_EQ(WhyNot(TarBuilder().Symlink("./", "/etc")), "layer test: the root is no directory");
}

TEST_F(UnpackLayerTest, RefusesFilesBeneathFiles) {
  EXPECT_EQ(WhyNot(TarBuilder().File("a", "x").File("a/b", "x")),
            "layer test: entry 'a/b': 'a' lies beneath what is no directory");
}

// Limits.

TEST_F(UnpackLayerTest, StopsAtTheByteLimit) {
  TarBuilder tar;
  tar.File("a", std::string(600, 'x')).File("b", std::string(600, 'x'));
  EXPECT_EQ(WhyNot(tar, {.layer_bytes = 1000}),
            "layer test: entry 'b' makes the files larger than 1000 bytes");
}

TEST_F(UnpackLayerTest, StopsAtAPromisedSizeBeforeReadingIt) {
  TarBuilder tar;
  tar.Header("huge", '0', "", std::uint64_t{1} << 32U);
  EXPECT_NE(WhyNot(tar, {.layer_bytes = 1000}), "");
  EXPECT_FALSE(Exists("huge"));
}

TEST_F(UnpackLayerTest, StopsAtCompressedZerosWithoutEnd) {
  const std::string zeros = Gzip(std::string(std::size_t{16} << 20U, '\0'));
  const auto layer = Unpack(zeros, {.layer_bytes = 1U << 20U, .layer_entries = 1000});
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().kind, ErrorKind::kCapacity);
}

TEST_F(UnpackLayerTest, StopsAtTheEntryLimit) {
  TarBuilder tar;
  for (int at = 0; at < 11; ++at)
    tar.File("f" + std::to_string(at), "");
  EXPECT_EQ(WhyNot(tar, {.layer_entries = 10}), "layer test: has more than 10 entries");
}

TEST_F(UnpackLayerTest, StopsAtTheLimitOfNames) {
  TarBuilder tar;
  for (int at = 0; at < 4; ++at)
    tar.File("f" + std::to_string(at) + std::string(80, 'n'), "");
  EXPECT_EQ(WhyNot(tar, {.layer_name_bytes = 200}), "layer test: has more than 200 bytes of names");
}

TEST_F(UnpackLayerTest, StopsAtTheDepthLimit) {
  std::string path;
  for (int at = 0; at < 20; ++at)
    path += "d/";
  EXPECT_NE(
      WhyNot(TarBuilder().Directory(path), {.path_depth = 19}).find("more than 19 components"),
      std::string::npos);
}

// Broken streams.

TEST_F(UnpackLayerTest, RefusesWhatIsNoTar) {
  EXPECT_FALSE(Unpack(std::string(2000, 'x')));
  EXPECT_FALSE(Unpack(TarBuilder().File("a", std::string(5000, 'x')).Finish().substr(0, 3000)));
}

TEST_F(UnpackLayerTest, RefusesBrokenCompression) {
  const std::string tar = TarBuilder().File("a", std::string(5000, 'x')).Finish();
  for (std::string blob : {Gzip(tar), Zstd(tar)}) {
    EXPECT_FALSE(Unpack(blob.substr(0, blob.size() - 5))) << "cut off";
    std::filesystem::remove_all(dir_ / "layer");
    dir_.MakeDirectory("layer");
    blob[blob.size() / 2] = static_cast<char>(blob[blob.size() / 2] ^ 0x40);
    EXPECT_FALSE(Unpack(blob)) << "a bit flipped";
    std::filesystem::remove_all(dir_ / "layer");
    dir_.MakeDirectory("layer");
  }
}

TEST_F(UnpackLayerTest, ADamagedBlobIsNamedByItsDigests) {
  const std::string tar = TarBuilder().File("a", "content").Finish();
  std::string blob = Gzip(tar);
  const ExpectedLayer expected = {.blob = *oci::ParseDigest(testing_support::DigestOf(blob)),
                                  .diff_id = {}};
  blob[20] = static_cast<char>(blob[20] ^ 1);
  const auto layer = Unpack(blob, {}, expected);
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().Message(), "layer test has the digest " +
                                         testing_support::DigestOf(blob) + ", expected " +
                                         expected.blob->ToString());
}

TEST_F(UnpackLayerTest, AnotherDiffIdIsRefused) {
  const auto layer =
      Unpack(TarBuilder().File("a", "x").Finish(), {}, {.blob = {}, .diff_id = oci::Digest{}});
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().kind, ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace plimsoll::image
