// Profiles in the container engines' form, member by member: small ones of our own.

#include <gtest/gtest.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "policy/profile.h"

namespace plimsoll::policy {
namespace {

// A profile around `entries`, the text of the "syscalls" array's items.
std::string Text(const std::string& entries) {
  return R"({"archMap":[{"architecture":"SCMP_ARCH_X86_64"}],"defaultAction":"SCMP_ACT_ERRNO",)"
         R"("syscalls":[)" +
         entries + "]}";
}

std::string Allow(const std::string& args) {
  return R"({"names":["read"],"action":"SCMP_ACT_ALLOW","args":[)" + args + "]}";
}

// What is left of a file with these items in "syscalls", on a machine with this kernel.
Profile Parsed(const std::string& text, const Platform& platform = {}) {
  const auto profile = ParseProfile(text, "test.json", platform);
  EXPECT_TRUE(profile.has_value()) << text << "\n" << profile.error().Message();
  return profile ? *profile : Profile{};
}

std::string With(const std::string& members) {
  return R"({"names":["read"],"action":"SCMP_ACT_ALLOW",)" + members + "}";
}

TEST(EngineProfile, KnowsEveryActionButNotify) {
  const std::pair<std::string, std::uint32_t> known[] = {{"ALLOW", SECCOMP_RET_ALLOW},
                                                         {"ERRNO", Refuse(EPERM)},
                                                         {"KILL", SECCOMP_RET_KILL_THREAD},
                                                         {"KILL_THREAD", SECCOMP_RET_KILL_THREAD},
                                                         {"KILL_PROCESS", SECCOMP_RET_KILL_PROCESS},
                                                         {"TRAP", SECCOMP_RET_TRAP},
                                                         {"TRACE", SECCOMP_RET_TRACE | 1U},
                                                         {"LOG", SECCOMP_RET_LOG}};
  for (const auto& [name, action] : known) {
    const Profile profile =
        Parsed(Text(R"({"names":["read"],"action":"SCMP_ACT_)" + name + R"("})"));
    EXPECT_EQ(profile.entries[0].rule.action, action) << name;
  }
}

TEST(EngineProfile, NotifyIsUnsupportedAsAnActionAndAsTheDefault) {
  for (const std::string& text :
       {Text(R"({"names":["read"],"action":"SCMP_ACT_NOTIFY"})"),
        std::string(R"({"defaultAction":"SCMP_ACT_NOTIFY","syscalls":[]})")}) {
    const auto profile = ParseProfile(text, "test.json");
    ASSERT_FALSE(profile.has_value()) << text;
    EXPECT_EQ(profile.error().kind, ErrorKind::kUnsupported);
  }
}

TEST(EngineProfile, AnEntryForOtherArchitecturesIsLeftOut) {
  EXPECT_EQ(Parsed(Text(With(R"("includes":{"arches":["arm","amd64"]})"))).entries.size(), 1);
  EXPECT_TRUE(Parsed(Text(With(R"("includes":{"arches":["arm64","s390x"]})"))).entries.empty());
  EXPECT_TRUE(Parsed(Text(With(R"("excludes":{"arches":["amd64"]})"))).entries.empty());
  EXPECT_EQ(Parsed(Text(With(R"("excludes":{"arches":["s390x"]})"))).entries.size(), 1);
}

TEST(EngineProfile, TheGuestHasNoCapability) {
  EXPECT_TRUE(Parsed(Text(With(R"("includes":{"caps":["CAP_SYS_ADMIN"]})"))).entries.empty());
  EXPECT_EQ(Parsed(Text(With(R"("excludes":{"caps":["CAP_SYS_ADMIN"]})"))).entries.size(), 1);
}

TEST(EngineProfile, AnEntryForLaterKernelsIsLeftOutOnAnEarlierOne) {
  struct Case {
    Platform platform;
    bool is_new_enough;
  };
  for (const Case& c : {Case{{4, 7}, false}, Case{{4, 8}, true}, Case{{4, 19}, true},
                        Case{{5, 0}, true}, Case{{3, 90}, false}, Case{{0, 0}, false}}) {
    const auto count = [&](const std::string& member) {
      return Parsed(Text(With("\"" + member + R"(":{"minKernel":"4.8"})")), c.platform)
          .entries.size();
    };
    EXPECT_EQ(count("includes"), c.is_new_enough ? 1 : 0) << c.platform.kernel_major;
    EXPECT_EQ(count("excludes"), c.is_new_enough ? 0 : 1) << c.platform.kernel_major;
  }
}

TEST(EngineProfile, EveryConditionOfIncludesMustHoldAndNoneOfExcludes) {
  const Platform platform = {6, 1};
  const std::string ours = R"("arches":["amd64"],"minKernel":"5.0")";
  EXPECT_EQ(Parsed(Text(With(R"("includes":{)" + ours + "}")), platform).entries.size(), 1);
  EXPECT_TRUE(Parsed(Text(With(R"("includes":{)" + ours + R"(,"caps":["CAP_BPF"]})")), platform)
                  .entries.empty());
  EXPECT_TRUE(Parsed(Text(With(R"("excludes":{"arches":["arm"],"minKernel":"5.0"})")), platform)
                  .entries.empty());
}

TEST(EngineProfile, AKernelVersionThatIsNoneIsRefused) {
  for (const std::string version : {"", "5", "5.x", "5.1.2", ".5", "5.", "-1.0", "99999999999.0"}) {
    EXPECT_FALSE(
        ParseProfile(Text(With(R"("includes":{"minKernel":")" + version + R"("})")), "test.json")
            .has_value())
        << version;
  }
}

TEST(EngineProfile, AnEntryThatIsLeftOutMustStillBeRight) {
  EXPECT_FALSE(ParseProfile(Text(R"({"names":["read"],"action":"SCMP_ACT_ASK",)"
                                 R"("includes":{"arches":["arm"]}})"),
                            "test.json")
                   .has_value());
}

// Engines add each such test as a rule of its own.
TEST(EngineProfile, TestsOfOneArgumentTwiceAreAlternatives) {
  const Profile profile = Parsed(Text(Allow(R"({"index":0,"op":"SCMP_CMP_EQ","value":1},)"
                                            R"({"index":1,"op":"SCMP_CMP_EQ","value":2},)"
                                            R"({"index":0,"op":"SCMP_CMP_EQ","value":3})")));
  ASSERT_EQ(profile.entries.size(), 3);
  EXPECT_EQ(profile.entries[0].rule.tests, (std::vector<ArgTest>{{.index = 0, .value = 1}}));
  EXPECT_EQ(profile.entries[1].rule.tests, (std::vector<ArgTest>{{.index = 1, .value = 2}}));
  EXPECT_EQ(profile.entries[2].rule.tests, (std::vector<ArgTest>{{.index = 0, .value = 3}}));
}

TEST(EngineProfile, TestsOfDifferentArgumentsMustAllHold) {
  const Profile profile = Parsed(Text(Allow(R"({"index":0,"op":"SCMP_CMP_EQ","value":1},)"
                                            R"({"index":1,"op":"SCMP_CMP_EQ","value":2})")));
  ASSERT_EQ(profile.entries.size(), 1);
  EXPECT_EQ(profile.entries[0].rule.tests.size(), 2);
}

TEST(EngineProfile, TheOneNameOfOlderFilesIsAName) {
  const Profile profile =
      Parsed(Text(R"({"name":"read","action":"SCMP_ACT_ALLOW","args":null},)"
                  R"({"name":"","names":["write"],"action":"SCMP_ACT_ALLOW"})"));
  ASSERT_EQ(profile.entries.size(), 2);
  EXPECT_EQ(profile.entries[0].names, std::vector<std::string>{"read"});
  EXPECT_EQ(profile.entries[1].names, std::vector<std::string>{"write"});
  EXPECT_FALSE(ParseProfile(Text(R"({"name":"read","names":["write"],"action":"SCMP_ACT_ALLOW"})"),
                            "test.json")
                   .has_value());
  EXPECT_FALSE(ParseProfile(Text(R"({"action":"SCMP_ACT_ALLOW"})"), "test.json").has_value());
}

TEST(EngineProfile, TheErrnoMayBeGivenByItsName) {
  const auto action = [](const std::string& members) {
    return Parsed(Text(R"({"names":["read"],"action":"SCMP_ACT_ERRNO",)" + members + "}"))
        .entries[0]
        .rule.action;
  };
  EXPECT_EQ(action(R"("errno":"ENOSYS")"), Refuse(ENOSYS));
  EXPECT_EQ(action(R"("errno":"EINVAL","errnoRet":22)"), Refuse(EINVAL));
  EXPECT_EQ(action(R"("errno":"","errnoRet":22)"), Refuse(EINVAL));
  EXPECT_EQ(action(R"("errno":null)"), Refuse(EPERM));
  EXPECT_EQ(Parsed(R"({"defaultAction":"SCMP_ACT_ERRNO","defaultErrno":"ENOSYS","syscalls":[]})")
                .default_action,
            Refuse(ENOSYS));
}

TEST(EngineProfile, AnErrnoThatThereIsNotOrThatDisagreesIsRefused) {
  for (const std::string members : {R"("errno":"ENONSENSE")", R"("errno":"EINVAL","errnoRet":1)",
                                    R"("errnoRet":-1)", R"("errnoRet":"EPERM")"}) {
    EXPECT_FALSE(
        ParseProfile(Text(R"({"names":["read"],"action":"SCMP_ACT_ERRNO",)" + members + "}"),
                     "test.json")
            .has_value())
        << members;
  }
}

// The head of a file: everything but the entries.
Result<Profile> ParseHead(const std::string& members) {
  return ParseProfile(R"({"defaultAction":"SCMP_ACT_ERRNO","syscalls":[],)" + members + "}",
                      "test.json");
}

TEST(EngineProfile, ArchitecturesComeAsAListOrAsAMapOrNotAtAll) {
  for (const std::string members :
       {R"("architectures":["SCMP_ARCH_X86_64","SCMP_ARCH_X86"])", R"("architectures":[])",
        R"("architectures":null,"archMap":null)",
        R"("archMap":[{"architecture":"SCMP_ARCH_X86_64","subArchitectures":null}])",
        R"("archMap":[{"architecture":"SCMP_ARCH_AARCH64","subArchitectures":["SCMP_ARCH_ARM"]},)"
        R"({"architecture":"SCMP_ARCH_X86_64","subArchitectures":["SCMP_ARCH_X86"]}])",
        R"("architectures":[],"archMap":[{"architecture":"SCMP_ARCH_X86_64"}])"}) {
    EXPECT_TRUE(ParseHead(members).has_value()) << members;
  }
  EXPECT_TRUE(
      ParseProfile(R"({"defaultAction":"SCMP_ACT_ERRNO","syscalls":[]})", "test.json").has_value());
}

TEST(EngineProfile, ArchitecturesWithoutOursAreUnsupported) {
  for (const std::string members : {R"("architectures":["SCMP_ARCH_X86"])",
                                    R"("archMap":[{"architecture":"SCMP_ARCH_AARCH64"}])"}) {
    const auto profile = ParseHead(members);
    ASSERT_FALSE(profile.has_value()) << members;
    EXPECT_EQ(profile.error().kind, ErrorKind::kUnsupported) << members;
  }
}

TEST(EngineProfile, ArchitecturesAsListAndAsMapAtOnceAreRefused) {
  EXPECT_FALSE(ParseHead(R"("architectures":["SCMP_ARCH_X86_64"],)"
                         R"("archMap":[{"architecture":"SCMP_ARCH_X86_64"}])")
                   .has_value());
}

TEST(EngineProfile, AListenerIsUnsupportedAndAnEmptyOneIsNone) {
  for (const std::string name : {"listenerPath", "listenerMetadata"}) {
    const auto profile = ParseHead("\"" + name + R"(":"/run/agent.sock")");
    ASSERT_FALSE(profile.has_value()) << name;
    EXPECT_EQ(profile.error().kind, ErrorKind::kUnsupported) << name;
    EXPECT_TRUE(ParseHead("\"" + name + R"(":"")").has_value()) << name;
  }
}

TEST(EngineProfile, FlagsAndNullListsAreRead) {
  EXPECT_TRUE(ParseHead(R"("flags":["SECCOMP_FILTER_FLAG_LOG"])").has_value());
  EXPECT_TRUE(ParseHead(R"("flags":null)").has_value());
  const Profile profile = Parsed(Text(With(
      R"("args":null,"comment":null,"includes":null,"excludes":{"caps":null,"arches":null})")));
  ASSERT_EQ(profile.entries.size(), 1);
  EXPECT_TRUE(profile.entries[0].rule.tests.empty());
}

TEST(EngineProfile, CommentsAreKept) {
  EXPECT_EQ(Parsed(Text(With(R"("comment":"why")"))).entries[0].comment, "why");
}

}  // namespace
}  // namespace plimsoll::policy
