// What `policy check` finds in profiles, ours and foreign ones.

#include "policy/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/temp_dir.h"
#include "unit/policy/policies.h"

namespace plimsoll::policy {
namespace {

// Whether a finding of this severity has `part` in its text.
bool Finds(const std::vector<Finding>& findings, Severity severity, const std::string& part) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.severity == severity && finding.text.find(part) != std::string::npos;
  });
}

std::string Texts(const std::vector<Finding>& findings) {
  std::string texts;
  for (const Finding& finding : findings)
    texts += (finding.severity == Severity::kWrong ? "wrong: " : "note: ") + finding.text + "\n";
  return texts;
}

// Wrong for one of ours; for a foreign one a note, since the guard sees to it.
void ExpectGuarded(const std::string& text, const std::string& part) {
  const Source source = SourceOfText(text);
  const auto strict = Check(source, false);
  EXPECT_TRUE(Finds(strict, Severity::kWrong, part)) << part << "\n" << Texts(strict);
  const auto foreign = Check(source, true);
  EXPECT_TRUE(Finds(foreign, Severity::kNote, part)) << part << "\n" << Texts(foreign);
  EXPECT_FALSE(Finds(foreign, Severity::kWrong, "")) << Texts(foreign);
}

std::string Allowing(const std::string& name, const std::string& args = "") {
  return ProfileText(R"({"names":[")" + name + R"("],"action":"SCMP_ACT_ALLOW","args":[)" + args +
                     "]}");
}

TEST(Check, FindsNothingWrongInTheShippedPolicies) {
  for (const Names& names : DifferenceSets()) {
    for (const bool is_foreign : {false, true}) {
      const auto findings = Check(SourceOf(names), is_foreign);
      EXPECT_FALSE(Finds(findings, Severity::kWrong, "")) << Texts(findings);
    }
  }
}

TEST(Check, AProfileThatAllowsByDefaultIsWrongWhoeverWroteIt) {
  for (const std::string action : {"SCMP_ACT_ALLOW", "SCMP_ACT_LOG"}) {
    const Source source = SourceOfText(R"({"defaultAction":")" + action + R"(","syscalls":[]})");
    EXPECT_TRUE(Finds(Check(source, false), Severity::kWrong, "allows by default"));
    EXPECT_TRUE(Finds(Check(source, true), Severity::kWrong, "allows by default"));
  }
}

TEST(Check, AProfileThatRefusesEverythingIsGood) {
  EXPECT_TRUE(Check(SourceOfText(ProfileText("")), false).empty());
}

TEST(Check, SeesEveryCallThatIsDeniedOnPurpose) {
  for (const std::string& name : NamesDeniedOnPurpose()) {
    ExpectGuarded(Allowing(name), name);
  }
}

TEST(Check, SeesADeniedCallThatIsAllowedOnAConditionOrOnlyLogged) {
  ExpectGuarded(Allowing("ptrace", R"({"index":3,"op":"SCMP_CMP_EQ","value":77})"), "ptrace");
  ExpectGuarded(ProfileText(R"({"names":["bpf"],"action":"SCMP_ACT_LOG"})"), "bpf");
}

TEST(Check, GivesTheGuardsReason) {
  const auto findings = Check(SourceOfText(Allowing("ptrace")), false);
  EXPECT_EQ(Texts(findings), "wrong: allows ptrace (other processes' memory and registers)\n");
}

TEST(Check, SeesEveryNamespaceFlag) {
  const std::string text = Allowing("clone");
  for (const std::string flag : {"CLONE_NEWNS", "CLONE_NEWCGROUP", "CLONE_NEWUTS", "CLONE_NEWIPC",
                                 "CLONE_NEWUSER", "CLONE_NEWPID", "CLONE_NEWNET"}) {
    ExpectGuarded(text, "allows clone with " + flag);
  }
}

TEST(Check, SeesAFlagThatOneRuleForgot) {
  // Every flag of namespaces but CLONE_NEWUTS (0x04000000).
  const std::string text =
      Allowing("clone", R"({"index":0,"op":"SCMP_CMP_MASKED_EQ","value":2046951424,"valueTwo":0})");
  ExpectGuarded(text, "allows clone with CLONE_NEWUTS");
  EXPECT_FALSE(Finds(Check(SourceOfText(text), false), Severity::kWrong, "CLONE_NEWNET"));
}

TEST(Check, SeesAFlagThatIsAllowedOnlyWithHighBits) {
  ExpectGuarded(Allowing("clone", R"({"index":0,"op":"SCMP_CMP_GT","value":4294967295})"),
                "allows clone with CLONE_NEWUSER");
  // CLONE_NEWUSER with all bits of the high half.
  ExpectGuarded(Allowing("clone", R"({"index":0,"op":"SCMP_CMP_EQ","value":18446744069683019776})"),
                "allows clone with CLONE_NEWUSER");
}

TEST(Check, SeesAFlagThatIsAllowedOnlyBesideOthers) {
  // CLONE_NEWUSER | SIGCHLD, and the same only with a certain second argument.
  const std::string first = R"({"index":0,"op":"SCMP_CMP_EQ","value":268435473})";
  ExpectGuarded(Allowing("clone", first), "allows clone with CLONE_NEWUSER");
  ExpectGuarded(Allowing("clone", first + R"(,{"index":1,"op":"SCMP_CMP_EQ","value":4096})"),
                "allows clone with CLONE_NEWUSER");
}

TEST(Check, SeesSocketsOfOtherFamilies) {
  ExpectGuarded(Allowing("socket", R"({"index":0,"op":"SCMP_CMP_EQ","value":16})"),
                "sockets of other families than AF_UNIX: 16");
  ExpectGuarded(Allowing("socketpair", R"({"index":0,"op":"SCMP_CMP_EQ","value":2})"),
                "sockets of other families than AF_UNIX: 2");
  ExpectGuarded(Allowing("socket"), "sockets of other families than AF_UNIX: 0, 2, 3");
}

TEST(Check, SeesASocketThatIsAllowedOnlyWithOneTypeAndProtocol) {
  // AF_NETLINK, SOCK_RAW with SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT.
  ExpectGuarded(Allowing("socket", R"({"index":0,"op":"SCMP_CMP_EQ","value":16},)"
                                   R"({"index":1,"op":"SCMP_CMP_EQ","value":524291},)"
                                   R"({"index":2,"op":"SCMP_CMP_EQ","value":15})"),
                "sockets of other families than AF_UNIX: 16");
}

TEST(Check, OfInternetSocketsTheSdkAllowsStreamsAlone) {
  Source source = SourceOf({"sdk"});
  EXPECT_FALSE(Finds(Check(source, false), Severity::kWrong, "sockets"));
  const Profile datagrams =
      ProfileOf(Allowing("socket", R"({"index":0,"op":"SCMP_CMP_EQ","value":2},)"
                                   R"({"index":1,"op":"SCMP_CMP_EQ","value":2})"));
  source.profile.entries.push_back(datagrams.entries[0]);
  EXPECT_TRUE(
      Finds(Check(source, false), Severity::kWrong, "sockets of other families than AF_UNIX: 2"));
}

TEST(Check, RulesThatContradictEachOtherOrMeanNothingAreWrongInOursAlone) {
  const std::string allow = R"({"names":["read"],"action":"SCMP_ACT_ALLOW"})";
  for (const std::string& text :
       {ProfileText(allow + R"(,{"names":["read"],"action":"SCMP_ACT_ERRNO"})"),
        ProfileText(allow + R"(,{"names":["read"],"action":"SCMP_ACT_ALLOW","args":[)"
                            R"({"index":0,"op":"SCMP_CMP_EQ","value":1}]})")}) {
    EXPECT_TRUE(Finds(Check(SourceOfText(text), false), Severity::kWrong, "'read' has"));
    EXPECT_TRUE(Check(SourceOfText(text), true).empty());
  }
}

TEST(Check, ActionsThatOursNeverTakeAreWrongInOursAlone) {
  const Source source =
      SourceOfText(ProfileText(R"({"names":["read"],"action":"SCMP_ACT_KILL_PROCESS"})"));
  EXPECT_TRUE(Finds(Check(source, false), Severity::kWrong, "SCMP_ACT_KILL_PROCESS"));
  EXPECT_TRUE(Check(source, true).empty());
}

TEST(Check, NamesThatTheMachineHasNoCallOfAreANote) {
  const testing_support::TempDir folder;
  const std::string path = folder.WriteFile("p.json", Allowing("zzz"));
  for (const bool is_foreign : {false, true}) {
    EXPECT_EQ(Texts(Check(SourceOf({}, path), is_foreign)),
              "note: names that x86-64 has no system call of are passed over: 'zzz'\n");
  }
}

}  // namespace
}  // namespace plimsoll::policy
