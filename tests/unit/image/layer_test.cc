// Unpacking one layer: what it makes and what it leaves out.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "image/layer.h"
#include "support/tar_builder.h"
#include "unit/image/layer_fixture.h"

namespace plimsoll::image {
namespace {

using testing_support::Gzip;
using testing_support::Zstd;

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

TEST_F(UnpackLayerTest, AnEntryThatComesTwiceInADirectoryIsTheLastOne) {
  Facts(TarBuilder()
            .File("d/file", "old")
            .File("d/file", "new")
            .Symlink("d/link", "old")
            .Symlink("d/link", "new")
            .Hardlink("d/link", "d/file")
            .Fifo("d/fifo")
            .Fifo("d/fifo"));
  EXPECT_EQ(ReadWholeFile(In("d/file")), "new");
  EXPECT_EQ(ReadWholeFile(In("d/link")), "new");
}

TEST_F(UnpackLayerTest, EntriesGoOnBehindADirectoryThatWasReplacedAndMadeAgain) {
  Facts(
      TarBuilder().File("d/x", "old").Symlink("d", "elsewhere").Directory("d").File("d/y", "new"));
  EXPECT_FALSE(Exists("d/x"));
  EXPECT_EQ(ReadWholeFile(In("d/y")), "new");
}

}  // namespace
}  // namespace plimsoll::image
