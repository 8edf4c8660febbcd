// What is looked at on the machine of the test, and that looking changes nothing.
#include "doctor/look.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "support/temp_dir.h"
#include "sys/file.h"

namespace plimsoll::doctor {
namespace {

using testing_support::TempDir;

std::vector<std::string> NamesIn(const std::string& path) {
  const auto folder = sys::Open(path, O_RDONLY | O_DIRECTORY);
  if (!folder) return {"cannot be opened"};
  auto names = sys::ListDirectory(folder->Get(), path);
  return names ? *std::move(names) : std::vector<std::string>{"cannot be read"};
}

TEST(LookAround, FindsTheMachineAndThisProgram) {
  Findings findings;
  LookAround(findings);
  EXPECT_EQ(findings.machine, "x86_64");
  EXPECT_TRUE(findings.program.ends_with("/unit_doctor")) << findings.program;
}

TEST(LookAround, ReadsSettingsAsNumbersWithoutANewline) {
  Findings findings;
  LookAround(findings);
  ASSERT_TRUE(findings.settings.contains("user.max_user_namespaces"));
  const std::string& value = findings.settings.at("user.max_user_namespaces");
  EXPECT_EQ(value.find_first_not_of("0123456789"), std::string::npos) << value;
  EXPECT_FALSE(value.empty());
}

TEST(LookAround, FindsEveryLimitThatIsJudged) {
  Findings findings;
  LookAround(findings);
  std::vector<std::string> names;
  for (const InheritedLimit& limit : findings.surroundings.limits)
    names.push_back(limit.name);
  EXPECT_EQ(names, (std::vector<std::string>{"nproc", "nofile", "as", "data", "fsize", "cpu"}));
}

TEST(LookAround, LeavesThePrimaryGroupOut) {
  Findings findings;
  LookAround(findings);
  const auto& groups = findings.surroundings.groups;
  EXPECT_EQ(std::count(groups.begin(), groups.end(), std::to_string(::getegid())), 0);
}

TEST(LookAtStore, FindsSpaceAndHardLinksAndLeavesNothing) {
  const TempDir folder;
  const StoreFindings store = LookAtStore(folder.Path(), {});
  EXPECT_EQ(store.path, folder.Path());
  EXPECT_TRUE(store.exists);
  EXPECT_FALSE(store.write_error);
  EXPECT_EQ(store.link_error, 0);
  EXPECT_GT(store.free_bytes, 0U);
  EXPECT_EQ(NamesIn(folder.Path()), std::vector<std::string>{});
}

TEST(LookAtStore, LooksAtTheFolderThatStandsForAStoreThatIsNotThere) {
  const TempDir folder;
  const StoreFindings store = LookAtStore("/nowhere/store", folder.Path());
  EXPECT_EQ(store.path, "/nowhere/store");
  EXPECT_FALSE(store.exists);
  EXPECT_FALSE(store.write_error);
  EXPECT_EQ(NamesIn(folder.Path()), std::vector<std::string>{});
}

TEST(LookAtStore, KeepsTheErrorOfAStoreThatIsNoFolder) {
  const TempDir folder;
  const std::string file = folder.WriteFile("store", "x");
  const StoreFindings store = LookAtStore(file, {});
  EXPECT_FALSE(store.exists);
  ASSERT_TRUE(store.write_error);
  EXPECT_EQ(store.write_error->Message(), "open '" + file + "': Not a directory (ENOTDIR)");
}

}  // namespace
}  // namespace plimsoll::doctor
