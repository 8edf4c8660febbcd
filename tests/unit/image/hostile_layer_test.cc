// Unpacking layers that mean harm or are broken: each is refused or confined, and nothing outside
// the layer's directory changes.
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
