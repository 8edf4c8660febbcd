// Importing: which sources are understood, which names come out, and all or nothing.
#include "image/import.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "image/record.h"
#include "unit/image/store_fixture.h"

namespace plimsoll::image {
namespace {

using testing_support::BuildImage;
using testing_support::BuiltImage;
using testing_support::DescriptorOf;
using testing_support::DigestOf;
using testing_support::Files;
using testing_support::Gzip;
using testing_support::IndexJson;
using testing_support::LayoutFiles;
using testing_support::LayoutOfSeveral;
using testing_support::TarBuilder;
using testing_support::TarOf;
using testing_support::Zstd;

class ImportImagesTest : public StoreTest {
 protected:
  // What docker save wrote before version 25, with the names of its files.
  static Files DockerSave(const BuiltImage& image, const std::string& tags) {
    Files files;
    std::string layers;
    for (std::size_t at = 0; at + 2 < image.blobs.size(); ++at) {
      const std::string path = "layer" + std::to_string(at) + "/layer.tar";
      files.emplace_back(path, image.blobs[at].second);
      layers += (at == 0 ? "\"" : ",\"") + path + "\"";
    }
    files.emplace_back("config.json", image.config);
    files.emplace_back("manifest.json", R"([{"Config":"config.json","RepoTags":)" + tags +
                                            R"(,"Layers":[)" + layers + "]}]");
    return files;
  }

  static std::vector<std::string> Names(const std::vector<ImageRecord>& records) {
    std::vector<std::string> names;
    for (const ImageRecord& record : records)
      names.push_back(record.name);
    return names;
  }

  std::string WriteArchive(const std::string& name, const std::string& bytes) const {
    return dir_.WriteFile(name, bytes);
  }
};

TEST_F(ImportImagesTest, TakesALayoutAndMakesItReady) {
  const BuiltImage image = SmallImage("hello");
  const auto records = Import(WriteLayout("python", LayoutFiles(image, "3.12")));
  ASSERT_TRUE(records) << records.error().Message();
  EXPECT_EQ(Names(*records), std::vector<std::string>{"python:3.12"});
  EXPECT_EQ(records->front().manifest.ToString(), image.manifest_digest);
  EXPECT_FALSE(records->front().index);
  EXPECT_EQ(Word("python:3.12"), "hello");
  EXPECT_EQ(CountIn("tmp"), 0U);
  EXPECT_EQ(CountIn("layers"), 1U);
  EXPECT_EQ(CountIn("trees"), 1U);
}

TEST_F(ImportImagesTest, TakesArchivesPlainGzipAndZstd) {
  const std::string tar = TarOf(LayoutFiles(SmallImage("archived"), ""));
  for (const auto& [name, bytes] : {std::pair<std::string, std::string>{"a.tar", tar},
                                    {"b.tar.gz", Gzip(tar)},
                                    {"c.oci.tar.zst", Zstd(tar)}}) {
    const auto records = Import(WriteArchive(name, bytes));
    ASSERT_TRUE(records) << name << ": " << records.error().Message();
    EXPECT_EQ(records->front().name, name.substr(0, 1) + ":latest");
    EXPECT_EQ(Word(records->front().name), "archived");
  }
}

TEST_F(ImportImagesTest, TakesDockerSaveArchivesOfTheOldForm) {
  const BuiltImage image = SmallImage("docker");
  const std::string path = WriteArchive(
      "save.tar", TarOf(DockerSave(image, R"(["tool:1","docker.io/library/tool:2"])")));
  const auto records = Import(path);
  ASSERT_TRUE(records) << records.error().Message();
  EXPECT_EQ(Names(*records), (std::vector<std::string>{"tool:1", "tool:2"}));
  EXPECT_EQ(Word("tool:2"), "docker");
  const auto again = Import(path, "again:1");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->front().manifest, records->front().manifest) << "made, but always the same";
}

TEST_F(ImportImagesTest, TakesALayerThatIsALinkInTheArchive) {
  const std::string tar = TarBuilder().File("etc/word", "twice").Finish();
  const BuiltImage image = BuildImage({.layers = {tar, tar}});
  const std::string path = WriteArchive(
      "save.tar", TarBuilder()
                      .File("one/layer.tar", tar)
                      .Symlink("two/layer.tar", "../one/layer.tar")
                      .File("config.json", image.config)
                      .File("manifest.json", R"([{"Config":"config.json","RepoTags":["t:1"],)"
                                             R"("Layers":["one/layer.tar","two/layer.tar"]}])")
                      .Finish());
  const auto records = Import(path);
  ASSERT_TRUE(records) << records.error().Message();
  EXPECT_EQ(Word("t:1"), "twice");
}

TEST_F(ImportImagesTest, PrefersTheLayoutOfANewDockerArchive) {
  const BuiltImage image = SmallImage("both");
  Files files = LayoutFiles(image, "");
  files[1].second = IndexJson({DescriptorOf(image, "1.0", "")});
  const std::size_t at = files[1].second.find("\"annotations\":{") + 15;
  files[1].second.insert(at, R"("io.containerd.image.name":"docker.io/library/both:1.0",)");
  for (auto& file : DockerSave(image, R"(["both:1.0"])"))
    files.push_back(std::move(file));
  const auto records = Import(WriteArchive("new.tar", TarOf(files)));
  ASSERT_TRUE(records) << records.error().Message();
  EXPECT_EQ(Names(*records), std::vector<std::string>{"both:1.0"});
  EXPECT_EQ(records->front().manifest.ToString(), image.manifest_digest);
}

TEST_F(ImportImagesTest, AGivenNameWins) {
  const std::string layout = WriteLayout("l", LayoutFiles(SmallImage("x"), "tag"));
  EXPECT_EQ(Import(layout, "mine")->front().name, "mine:latest");
  EXPECT_EQ(Import(layout, "ghcr.io/me/mine:2")->front().name, "ghcr.io/me/mine:2");
  EXPECT_EQ(Word("ghcr.io/me/mine:2"), "x");
}

TEST_F(ImportImagesTest, ImportsEveryImageOfALayoutAndSharesLayers) {
  const std::string base = TarBuilder().File("etc/word", "base").Finish();
  const BuiltImage one = BuildImage({.layers = {base}});
  const BuiltImage two =
      BuildImage({.layers = {base, TarBuilder().File("etc/word", "two").Finish()}});
  const std::string layout = WriteLayout(
      "pair", LayoutOfSeveral({one, two},
                              IndexJson({DescriptorOf(one, "1", ""), DescriptorOf(two, "2", "")})));
  ASSERT_TRUE(Import(layout));
  EXPECT_EQ(Word("pair:1"), "base");
  EXPECT_EQ(Word("pair:2"), "two");
  EXPECT_EQ(CountIn("layers"), 2U);
  EXPECT_NE(Import(layout, "one-name").error().Message().find("has 2 images"), std::string::npos);
  EXPECT_EQ(Import(layout, "chosen", {.tag = "2", .digest = {}})->front().manifest.ToString(),
            two.manifest_digest);
}

TEST_F(ImportImagesTest, AnIndexOverPlatformsGivesOursAndIsRemembered) {
  const BuiltImage ours = SmallImage("amd64");
  const BuiltImage theirs = BuildImage({.layers = {"x"}, .architecture = "arm64"});
  const std::string index =
      IndexJson({DescriptorOf(theirs, "", "linux/arm64"), DescriptorOf(ours, "", "linux/amd64"),
                 DescriptorOf(theirs, "", "unknown/unknown")});
  Files files = LayoutOfSeveral({ours}, R"({"schemaVersion":2,"manifests":[{"mediaType":)"
                                        R"("application/vnd.oci.image.index.v1+json","digest":")" +
                                            DigestOf(index) + R"(","size":)" +
                                            std::to_string(index.size()) + "}]}");
  files.emplace_back("blobs/sha256/" + DigestOf(index).substr(7), index);
  const std::string layout = WriteLayout("multi", files);
  ASSERT_TRUE(Import(layout)) << WhyNotImported(layout);

  for (const std::string& pin : {ours.manifest_digest, DigestOf(index)}) {
    const auto rootfs = PrepareRootfs(StorePath(), "multi@" + pin);
    ASSERT_TRUE(rootfs) << rootfs.error().Message();
    EXPECT_EQ(rootfs->manifest.ToString(), ours.manifest_digest);
    EXPECT_EQ(rootfs->environment, "oci-image:" + DigestOf(index));
  }
  const std::string why = Word("multi@" + theirs.manifest_digest);
  EXPECT_NE(why.find("is for linux/arm64, this machine runs linux/amd64"), std::string::npos)
      << why;
  EXPECT_NE(why.find("'linux/amd64' (" + ours.manifest_digest + ")"), std::string::npos) << why;
  const Selection theirs_pin = {.tag = {}, .digest = *oci::ParseDigest(theirs.manifest_digest)};
  EXPECT_NE(WhyNotImported(layout, theirs_pin).find("is for linux/arm64"), std::string::npos);
}

TEST_F(ImportImagesTest, AnImageForAnotherPlatformIsRefused) {
  const BuiltImage image = BuildImage({.layers = {TarBuilder().Finish()}, .architecture = "arm64"});
  EXPECT_EQ(WhyNotImported(WriteLayout("arm", LayoutFiles(image, ""))),
            "the image is for 'linux/arm64', this machine runs linux/amd64");
  ExpectEmptyStore();
}

TEST_F(ImportImagesTest, OneChangedByteAnywhereIsRefusedAndLeavesNothing) {
  const BuiltImage image = SmallImage("content of the file");
  for (const auto& [hex, bytes] : image.blobs) {
    Files files = LayoutFiles(image, "");
    for (auto& [path, content] : files) {
      if (path.ends_with(hex)) content[content.size() / 2] ^= 1;
    }
    const std::string layout = WriteLayout("damaged-" + hex.substr(0, 8), files);
    const std::string why = WhyNotImported(layout);
    EXPECT_NE(why.find("has the digest sha256:"), std::string::npos) << why;
    ExpectEmptyStore();
  }
}

TEST_F(ImportImagesTest, ALayerOfAnotherSizeOrAMissingOneIsRefused) {
  const BuiltImage image = SmallImage("x");
  Files files = LayoutFiles(image, "");
  for (auto& [path, content] : files) {
    if (path.ends_with(image.blobs[0].first)) content += "more";
  }
  EXPECT_NE(WhyNotImported(WriteLayout("longer", files)).find("the manifest says"),
            std::string::npos);
  files = LayoutFiles(image, "");
  std::erase_if(files,
                [&](const auto& file) { return file.first.ends_with(image.blobs[0].first); });
  EXPECT_NE(WhyNotImported(WriteLayout("missing", files)), "");
  ExpectEmptyStore();
}

TEST_F(ImportImagesTest, ADiffIdThatLiesIsRefused) {
  const std::string tar = TarBuilder().File("a", "x").Finish();
  const BuiltImage image = BuildImage({.layers = {Gzip(tar)}, .layer_tars = {"something else"}});
  EXPECT_NE(
      WhyNotImported(WriteLayout("lie", LayoutFiles(image, ""))).find("unpacks to the DiffID"),
      std::string::npos);
  ExpectEmptyStore();
}

TEST_F(ImportImagesTest, ALayerThatIsThereAlreadyIsStillChecked) {
  const std::string tar = TarBuilder().File("etc/word", "same").Finish();
  ASSERT_TRUE(Import(WriteLayout("a", LayoutFiles(BuildImage({.layers = {tar}}), ""))));
  // The same DiffID, but the new blob does not unpack to it.
  const BuiltImage liar = BuildImage(
      {.layers = {Gzip(TarBuilder().File("etc/word", "other").Finish())}, .layer_tars = {tar}});
  EXPECT_NE(WhyNotImported(WriteLayout("b", LayoutFiles(liar, ""))).find("unpacks to the DiffID"),
            std::string::npos);
}

TEST_F(ImportImagesTest, WhatIsNoImageIsRefusedWithAWord) {
  dir_.MakeDirectory("empty");
  EXPECT_EQ(WhyNotImported(dir_ / "empty"),
            "neither an OCI image layout (index.json) nor a docker save archive (manifest.json)");
  EXPECT_NE(WhyNotImported(dir_.WriteFile("noise", std::string(3000, 'x'))), "");
  EXPECT_NE(WhyNotImported(dir_ / "nowhere").find("No such file or directory"), std::string::npos);
  ASSERT_EQ(::mkfifo((dir_ / "fifo").c_str(), 0600), 0);
  EXPECT_NE(WhyNotImported(dir_ / "fifo").find("is no regular file"), std::string::npos);
  ExpectEmptyStore();
}

TEST_F(ImportImagesTest, ALayoutWhoseBlobIsALinkOutIsRefused) {
  const BuiltImage image = SmallImage("x");
  const std::string layout = WriteLayout("linked", LayoutFiles(image, ""));
  const std::string blob = layout + "/blobs/sha256/" + image.blobs[0].first;
  dir_.WriteFile("elsewhere", image.blobs[0].second);
  std::filesystem::remove(blob);
  std::filesystem::create_symlink(dir_ / "elsewhere", blob);
  EXPECT_NE(WhyNotImported(layout), "");
}

TEST_F(ImportImagesTest, HoldsTheLimitsOfArchives) {
  const std::string path = WriteArchive("a.tar", TarOf(LayoutFiles(SmallImage("x"), "")));
  const ImportRequest request = {
      .source = path, .path = path, .selection = {}, .name = {}, .unnamed = true};
  const Store store = OpenStore();
  const auto few = ImportImages(store, request, {.limits = {.archive_entries = 2}, .progress = {}});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().kind, ErrorKind::kCapacity);
  const auto small =
      ImportImages(store, request, {.limits = {.archive_bytes = 999}, .progress = {}});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().kind, ErrorKind::kCapacity);
  const auto document =
      ImportImages(store, request, {.limits = {.document_bytes = 10}, .progress = {}});
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().kind, ErrorKind::kCapacity);
  ExpectEmptyStore();
}

TEST_F(ImportImagesTest, TellsItsStepsWithBytes) {
  const std::string layout = WriteLayout("l", LayoutFiles(SmallImage("x"), ""));
  std::vector<std::string> steps;
  std::uint64_t done = 0;
  std::uint64_t total = 1;
  const Progress progress = [&](const Step& step) {
    if (steps.empty() || steps.back() != step.what) steps.push_back(step.what);
    if (step.total != 0) {
      done = step.done;
      total = step.total;
    }
  };
  const Store store = OpenStore();
  ASSERT_TRUE(ImportImages(
      store, {.source = layout, .path = layout, .selection = {}, .name = {}, .unnamed = true},
      {.limits = {}, .progress = progress}));
  EXPECT_EQ(steps, (std::vector<std::string>{"unpack layer 1 of 1", "merge the layers"}));
  EXPECT_EQ(done, total);
}

}  // namespace
}  // namespace plimsoll::image
