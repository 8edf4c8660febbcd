// Manifests, indexes, configurations and docker's manifest.json: what is read, what is refused.
#include <gtest/gtest.h>

#include "oci/docker_save.h"
#include "oci/image_config.h"
#include "oci/manifest.h"

namespace plimsoll::oci {
namespace {

const std::string kDigest =
    "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

std::string DescriptorText(const std::string& type, const std::string& more = "") {
  return R"({"mediaType":")" + type + R"(","digest":")" + kDigest + R"(","size":7)" + more + "}";
}

std::string ManifestText(const std::string& config_type, const std::string& layer_type) {
  return R"({"schemaVersion":2,"config":)" + DescriptorText(config_type) + R"(,"layers":[)" +
         DescriptorText(layer_type) + R"(],"annotations":{"any":"thing"}})";
}

TEST(ParseManifest, ReadsOciAndDocker) {
  for (const auto& [config, layer] :
       {std::pair<std::string, std::string>{"application/vnd.oci.image.config.v1+json",
                                            "application/vnd.oci.image.layer.v1.tar+zstd"},
        {"application/vnd.docker.container.image.v1+json",
         "application/vnd.docker.image.rootfs.diff.tar.gzip"}}) {
    const auto manifest = ParseManifest(ManifestText(config, layer), "m");
    ASSERT_TRUE(manifest) << manifest.error().Message();
    EXPECT_EQ(manifest->config.digest.ToString(), kDigest);
    ASSERT_EQ(manifest->layers.size(), 1U);
    EXPECT_EQ(manifest->layers[0].size, 7U);
  }
}

TEST(ParseManifest, WhatIsNoImageIsUnsupported) {
  const auto artifact =
      ParseManifest(ManifestText("application/vnd.example+json", std::string(kLayerType)), "m");
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(artifact.error().what,
            "m: byte 28: /config: media type 'application/vnd.example+json' is no image "
            "configuration");
  EXPECT_FALSE(ParseManifest(ManifestText(std::string(kConfigType), "text/plain"), "m"));
}

TEST(ParseManifest, OtherVersionsAndTypesAreRefused) {
  EXPECT_EQ(ParseManifest(R"({"schemaVersion":1})", "m").error().kind, ErrorKind::kUnsupported);
  EXPECT_FALSE(ParseManifest("{}", "m"));
  EXPECT_FALSE(ParseManifest("[]", "m"));
  const std::string index_type = R"(,"mediaType":")" + std::string(kIndexType) + "\"";
  std::string text = ManifestText(std::string(kConfigType), std::string(kLayerType));
  text.insert(18, index_type);
  EXPECT_NE(ParseManifest(text, "m").error().what.find("is not expected here"), std::string::npos)
      << "a document must not be an index to one reader and a manifest to another";
}

TEST(ParseManifest, HoldsItsLimits) {
  std::string layers;
  for (std::size_t at = 0; at <= kMaxLayers; ++at) {
    layers += (at == 0 ? "" : ",") + DescriptorText(std::string(kLayerType));
  }
  const auto manifest =
      ParseManifest(R"({"schemaVersion":2,"config":)" + DescriptorText(std::string(kConfigType)) +
                        R"(,"layers":[)" + layers + "]}",
                    "m");
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().kind, ErrorKind::kCapacity);
}

TEST(ParseManifest, NegativeAndHugeSizesAreRefused) {
  for (const char* size : {"-1", "1.5", "18446744073709551615", "\"7\""}) {
    std::string text = ManifestText(std::string(kConfigType), std::string(kLayerType));
    text.replace(text.find("\"size\":7") + 7, 1, size);
    EXPECT_FALSE(ParseManifest(text, "m")) << size;
  }
}

TEST(FormatManifest, IsReadBack) {
  const auto manifest =
      ParseManifest(ManifestText(std::string(kConfigType), std::string(kLayerType)), "m");
  const std::string text = FormatManifest(*manifest);
  const auto again = ParseManifest(text, "again");
  ASSERT_TRUE(again) << again.error().Message();
  EXPECT_EQ(FormatManifest(*again), text);
}

TEST(ParseImageIndex, ReadsPlatformsAndNames) {
  const auto index = ParseImageIndex(
      R"({"schemaVersion":2,"manifests":[)" +
          DescriptorText(std::string(kManifestType),
                         R"(,"platform":{"os":"linux","architecture":"arm","variant":"v7"},)"
                         R"("annotations":{"org.opencontainers.image.ref.name":"1.0"})") +
          "]}",
      "i");
  ASSERT_TRUE(index) << index.error().Message();
  EXPECT_EQ(index->manifests[0].platform->ToString(), "linux/arm/v7");
  EXPECT_EQ(index->manifests[0].ref_name, "1.0");
}

TEST(ParseImageIndex, ABadDigestSaysWhere) {
  const auto index = ParseImageIndex(
      R"({"schemaVersion":2,"manifests":[{"mediaType":"x","digest":"sha256:12","size":1}]})", "i");
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().Message(),
            "i: byte 58: /manifests/0/digest: digest 'sha256:12' needs 64 lower-case hexadecimal "
            "digits, has 2 characters");
}

const std::string kConfig =
    R"({"architecture":"amd64","os":"linux","created":"2024-01-01T00:00:00Z",)"
    R"("config":{"Entrypoint":["/bin/tool"],"Cmd":null,"Env":["PATH=/bin","EMPTY=","A=b=c"],)"
    R"("User":"1000:1000","WorkingDir":"/srv","Labels":{"x":"y"},"ExposedPorts":{"80/tcp":{}}},)"
    R"("rootfs":{"type":"layers","diff_ids":[")" +
    kDigest + R"("]},"history":[{"created_by":"x"}]})";

TEST(ParseImageConfig, ReadsWhatARunNeeds) {
  const auto config = ParseImageConfig(kConfig, "c");
  ASSERT_TRUE(config) << config.error().Message();
  EXPECT_EQ(config->platform.ToString(), "linux/amd64");
  EXPECT_EQ(config->entrypoint, std::vector<std::string>{"/bin/tool"});
  EXPECT_TRUE(config->cmd.empty());
  EXPECT_EQ(config->env, (std::vector<std::pair<std::string, std::string>>{
                             {"PATH", "/bin"}, {"EMPTY", ""}, {"A", "b=c"}}));
  EXPECT_EQ(config->user, "1000:1000");
  EXPECT_EQ(config->working_dir, "/srv");
  EXPECT_EQ(config->diff_ids.size(), 1U);
}

TEST(ParseImageConfig, WritesWhatItReads) {
  json::Writer writer;
  WriteImageConfig(writer, *ParseImageConfig(kConfig, "c"));
  json::Writer again;
  const std::string text = writer.Take();
  WriteImageConfig(again, *ParseImageConfig(text, "again"));
  EXPECT_EQ(again.Take(), text);
}

TEST(ParseImageConfig, RefusesWhatWouldReachExecveWrong) {
  for (const char* inner : {R"("Cmd":["a\u0000b"])", R"("Env":["NOEQUALS"])", R"("Env":["=x"])",
                            R"("Env":["A=\u0000"])", R"("Env":[1])", R"("Entrypoint":"sh")",
                            R"("User":1000)", R"("WorkingDir":"/a\u0000")"}) {
    const std::string text = R"({"os":"linux","architecture":"amd64","config":{)" +
                             std::string(inner) + R"(},"rootfs":{"diff_ids":[]}})";
    EXPECT_FALSE(ParseImageConfig(text, "c")) << inner;
  }
}

TEST(ParseImageConfig, NeedsDiffIds) {
  EXPECT_FALSE(ParseImageConfig(R"({"os":"linux"})", "c"));
  EXPECT_FALSE(ParseImageConfig(R"({"rootfs":{"diff_ids":["md5:x"]}})", "c"));
}

TEST(ParseDockerSave, ReadsSeveralImages) {
  const auto images =
      ParseDockerSave(R"([{"Config":"a.json","RepoTags":["a:1","a:2"],"Layers":["x/layer.tar"]},)"
                      R"({"Config":"b.json","RepoTags":null,"Layers":[],"LayerSources":{}}])",
                      "manifest.json");
  ASSERT_TRUE(images) << images.error().Message();
  ASSERT_EQ(images->size(), 2U);
  EXPECT_EQ(images->at(0).repo_tags, (std::vector<std::string>{"a:1", "a:2"}));
  EXPECT_EQ(images->at(0).layers, std::vector<std::string>{"x/layer.tar"});
  EXPECT_TRUE(images->at(1).repo_tags.empty());
}

TEST(ParseDockerSave, RefusesOtherShapes) {
  for (const char* text : {"{}", "[1]", R"([{"Layers":[]}])", R"([{"Config":"a"}])",
                           R"([{"Config":"a","Layers":[1]}])"}) {
    EXPECT_FALSE(ParseDockerSave(text, "manifest.json")) << text;
  }
}

}  // namespace
}  // namespace plimsoll::oci
