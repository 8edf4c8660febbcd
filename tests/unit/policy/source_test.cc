// Policies as they were asked for, their digests, and the cache of compiled programs.

#include "policy/source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "crypto/sha256.h"
#include "policy/describe.h"
#include "policy/interpret.h"
#include "support/temp_dir.h"
#include "unit/policy/policies.h"

namespace plimsoll::policy {
namespace {

using testing_support::ReadWholeFile;
using testing_support::TempDir;

Program Copy(const Policy& policy) {
  return {policy.program.begin(), policy.program.end()};
}

std::string DigestOf(const std::string& text) {
  return "seccomp:sha256:" + crypto::Sha256HexOf(text);
}

const std::string kOddlyWritten = " { \"syscalls\" : [ ],\n\"defaultAction\":\"SCMP_ACT_ERRNO\" }";

TEST(ReadSource, AFilesDigestIsOfItsOwnBytes) {
  const TempDir folder;
  const Source source = SourceOf({}, folder.WriteFile("odd.json", kOddlyWritten));
  EXPECT_EQ(source.digest, DigestOf(kOddlyWritten));
  EXPECT_FALSE(source.is_ours);
}

TEST(ReadSource, WithADifferenceTheDigestIsOfTheCanonicalBytes) {
  const TempDir folder;
  const Source source = SourceOf({"sdk"}, folder.WriteFile("odd.json", kOddlyWritten));
  EXPECT_EQ(source.digest, DigestOf(CanonicalText(source.profile)));
  EXPECT_EQ(source.differences, Names{"sdk"});
}

TEST(ReadSource, TheDefaultsDigestIsOfItsBytesWhichAreCanonical) {
  EXPECT_EQ(SourceOf({}).digest, DigestOf(std::string(DefaultText())));
  EXPECT_EQ(SourceOf({}).digest, DigestOf(CanonicalText(SourceOf({}).profile)));
  EXPECT_TRUE(SourceOf({}).is_ours);
}

TEST(ReadSource, ADifferenceFromAFileIsTheShippedOneWithItsText) {
  const TempDir folder;
  const std::string path = folder.WriteFile("my.json", DifferenceText("sdk"));
  EXPECT_EQ(SourceOf({path}).digest, SourceOf({"sdk"}).digest);
}

TEST(ReadSource, ListsEachNameThatTheMachineHasNoCallOfOnce) {
  const TempDir folder;
  const std::string path = folder.WriteFile(
      "old.json", ProfileText(R"({"names":["zzz","read","chown32"],"action":"SCMP_ACT_ALLOW"},)"
                              R"({"names":["zzz"],"action":"SCMP_ACT_ERRNO"})"));
  EXPECT_EQ(SourceOf({}, path).unknown_calls, (Names{"chown32", "zzz"}));
}

TEST(ReadSource, NamesTheFileThatCannotBeRead) {
  const auto source = ReadSource("/nowhere/p.json", {}, {});
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().kind, ErrorKind::kRequest);
  EXPECT_EQ(source.error().sys_errno, ENOENT);
  EXPECT_TRUE(source.error().Message().starts_with("policy '/nowhere/p.json': "))
      << source.error().Message();
}

TEST(ReadSource, SuggestsTheDifferenceThatWasMeant) {
  const auto source = ReadSource("default", {"sdkk"}, {});
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().kind, ErrorKind::kRequest);
  EXPECT_EQ(source.error().hint, "did you mean 'sdk'?");
}

TEST(ReadSource, NamesTheProfileWhoseConditionsCannotBeJoined) {
  const TempDir folder;
  const std::string path = folder.WriteFile(
      "gt.json", ProfileText(R"({"names":["chmod"],"action":"SCMP_ACT_ALLOW","args":[)"
                             R"({"index":1,"op":"SCMP_CMP_GT","value":3}]})"));
  const auto source = ReadSource(path, {"rw-volume"}, {});
  ASSERT_FALSE(source.has_value());
  EXPECT_TRUE(source.error().Message().starts_with("policy '" + path + "': "))
      << source.error().Message();
}

TEST(Compile, GivesTheProgramsThatWereMadeWithTheBinary) {
  for (const bool writable_volume : {false, true}) {
    const Policy shipped = Shipped({.writable_volume = writable_volume});
    const auto compiled = Compile(SourceOf(shipped.differences));
    ASSERT_TRUE(compiled.has_value()) << compiled.error().Message();
    EXPECT_EQ(Bytes(Copy(*compiled)), Bytes(Copy(shipped)));
    EXPECT_EQ(compiled->digest, shipped.digest);
    EXPECT_EQ(compiled->program_digest, shipped.program_digest);
    EXPECT_EQ(compiled->guard_digest, shipped.guard_digest);
    EXPECT_EQ(compiled->profile_program_digest, shipped.profile_program_digest);
    EXPECT_EQ(compiled->profile, shipped.profile);
  }
}

// One policy in a cache of its own.
class Cache : public testing::Test {
 protected:
  Policy Get() const {
    auto policy = CachedPolicy(source_, folder_);
    EXPECT_TRUE(policy.has_value());
    return policy ? *policy : Policy{};
  }

  // The only file in the cache.
  std::string File() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      files.push_back(entry.path());
    EXPECT_EQ(files.size(), 1);
    return files.empty() ? "" : files[0];
  }

  static ino_t Inode(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_ino;
  }

  void Overwrite(const std::string& text) const {
    root_.WriteFile("cache/" + std::filesystem::path(File()).filename().string(), text, 0600);
  }

  // With `text` in the cache the policy is the compiled one all the same, and the cache is mended.
  void ExpectMended(const std::string& text, const std::string& good) const {
    Overwrite(text);
    const Policy policy = Get();
    EXPECT_EQ(policy.program_digest, compiled_.program_digest);
    EXPECT_EQ(policy.profile_program_digest, compiled_.profile_program_digest);
    EXPECT_EQ(Bytes(Copy(policy)), Bytes(Copy(compiled_)));
    EXPECT_TRUE(ReadWholeFile(File()) == good);
  }

  const TempDir root_;
  const std::string folder_ = root_ / "cache";
  const Source source_ =
      SourceOf({}, root_.WriteFile("p.json", ProfileText(R"({"names":["read","socket"],)"
                                                         R"("action":"SCMP_ACT_ALLOW"})")));
  const Policy compiled_ = *Compile(source_);
};

TEST_F(Cache, KeepsAPolicyAsItWasCompiled) {
  for (int i = 0; i < 2; ++i) {
    const Policy policy = Get();
    EXPECT_EQ(Bytes(Copy(policy)), Bytes(Copy(compiled_)));
    EXPECT_EQ(policy.digest, compiled_.digest);
    EXPECT_EQ(policy.program_digest, compiled_.program_digest);
    EXPECT_EQ(policy.guard_digest, compiled_.guard_digest);
    EXPECT_EQ(policy.profile_program_digest, compiled_.profile_program_digest);
  }
}

TEST_F(Cache, IsReadTheSecondTimeAndNotWritten) {
  Get();
  const ino_t before = Inode(File());
  Get();
  EXPECT_EQ(Inode(File()), before) << "a new file was put there";
}

TEST_F(Cache, IsForItsOwnerOnly) {
  Get();
  struct stat info {};
  ASSERT_EQ(::stat(File().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
  ASSERT_EQ(::stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700);
}

TEST_F(Cache, AByteThatFlippedAnywhereIsSeen) {
  Get();
  const std::string good = ReadWholeFile(File());
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    ExpectMended(bad, good);
  }
}

TEST_F(Cache, AFileOfAnyOtherLengthIsSeen) {
  Get();
  const std::string good = ReadWholeFile(File());
  for (std::size_t size = 0; size < good.size(); ++size)
    ExpectMended(good.substr(0, size), good);
  ExpectMended(good + "x", good);
  ExpectMended(good + good, good);
  ExpectMended(good + std::string(100000, '\0'), good);
}

TEST_F(Cache, AFileInAnotherFormIsSeen) {
  Get();
  const std::string good = ReadWholeFile(File());
  ExpectMended("plimsoll filter 0" + good.substr(good.find('\n')), good);
  ExpectMended("{}", good);
}

TEST_F(Cache, AnotherPolicysFileIsSeen) {
  const std::string other_folder = root_ / "other";
  const Source other = SourceOf({"sdk"});
  ASSERT_TRUE(CachedPolicy(other, other_folder).has_value());
  const std::string text =
      ReadWholeFile(std::filesystem::directory_iterator(other_folder)->path().string());
  Get();
  ExpectMended(text, ReadWholeFile(File()));
}

TEST_F(Cache, ProfilesThatSayTheSameShareAFileAndKeepTheirDigests) {
  Get();
  const std::string spaced = " " + ReadWholeFile(root_ / "p.json");
  const Source same = SourceOf({}, root_.WriteFile("same.json", spaced));
  const auto policy = CachedPolicy(same, folder_);
  ASSERT_TRUE(policy.has_value());
  EXPECT_EQ(policy->digest, DigestOf(spaced));
  EXPECT_EQ(policy->program_digest, compiled_.program_digest);
  File();  // one
}

TEST_F(Cache, AFolderThatCannotBeMadeIsNoError) {
  root_.WriteFile("cache", "a file in the way");
  EXPECT_EQ(Get().program_digest, compiled_.program_digest);
}

TEST_F(Cache, AFolderThatDoesNotTakeTheFileIsNoError) {
  const auto policy = CachedPolicy(source_, "/proc/self");
  ASSERT_TRUE(policy.has_value());
  EXPECT_EQ(policy->program_digest, compiled_.program_digest);
}

}  // namespace
}  // namespace plimsoll::policy
