#include "cli/exec_options.h"

#include <gtest/gtest.h>

namespace plimsoll::cli {
namespace {

using std::chrono_literals::operator""ms;

request::RunRequest Parse(const std::vector<std::string>& words) {
  auto command = ParseExec(words, false);
  EXPECT_TRUE(command.has_value()) << command.error().Message();
  return command ? command->request : request::RunRequest{};
}

TEST(ParseExec, WithoutFlagsLeavesTheDefaults) {
  const auto request = Parse({"true"});
  EXPECT_EQ(request.image, "");
  ASSERT_EQ(request.steps.size(), 1U);
  EXPECT_EQ(request.steps[0].shell, std::nullopt);
  EXPECT_EQ(request.steps[0].arguments, std::vector<std::string>{"true"});
  EXPECT_EQ(request.limits.timeout, std::nullopt);
  EXPECT_EQ(request.limits.kill_after, 2000ms);
  EXPECT_EQ(request.limits.memory_bytes, std::nullopt);
  EXPECT_EQ(request.limits.tmpfs_bytes, 64U << 20U);
  EXPECT_EQ(request.output_limit, 1U << 20U);
  EXPECT_FALSE(request.interactive || request.json || request.writable_root ||
               request.limits.require);
  EXPECT_FALSE(request.volume_all || request.volume_sockets);
}

TEST(ParseExec, ReadsEveryLimit) {
  const auto request =
      Parse({"--timeout", "1.5", "--kill-after", "0", "--cpu-time", "2s", "--memory", "512M",
             "--pids-limit", "9", "--cpus", "1.5", "--tmpfs-size", "1G", "--output-limit", "7",
             "--require-limits", "x"});
  EXPECT_EQ(request.limits.timeout, 1500ms);
  EXPECT_EQ(request.limits.kill_after, 0ms);
  EXPECT_EQ(request.limits.cpu_time, 2000ms);
  EXPECT_EQ(request.limits.memory_bytes, 512U << 20U);
  EXPECT_EQ(request.limits.pids, 9U);
  EXPECT_EQ(request.limits.cpus, 1.5);
  EXPECT_EQ(request.limits.tmpfs_bytes, 1U << 30U);
  EXPECT_EQ(request.output_limit, 7U);
  EXPECT_TRUE(request.limits.require);
}

TEST(ParseExec, ReadsVolumesFromTheirEnd) {
  const auto request =
      Parse({"-v", "/a:/b", "-v", "rel:/b:rw", "-v", "/c:d:/e:ro", "-v", "/f:/g:/h", "x"});
  ASSERT_EQ(request.volumes.size(), 4U);
  EXPECT_EQ(request.volumes[0].source + "|" + request.volumes[0].destination, "/a|/b");
  EXPECT_FALSE(request.volumes[0].writable);
  EXPECT_EQ(request.volumes[1].source + "|" + request.volumes[1].destination, "./rel|/b");
  EXPECT_TRUE(request.volumes[1].writable);
  EXPECT_EQ(request.volumes[2].source + "|" + request.volumes[2].destination, "/c:d|/e");
  EXPECT_FALSE(request.volumes[2].writable);
  EXPECT_EQ(request.volumes[3].source + "|" + request.volumes[3].destination, "/f:/g|/h");
}

TEST(ParseExec, ReadsWhoTheGuestIs) {
  const auto request = Parse({"-u", "user:group", "--host-user", "5", "-w", "/x", "x"});
  EXPECT_EQ(request.user.user + "|" + request.user.group, "user|group");
  ASSERT_TRUE(request.host_user.has_value());
  EXPECT_EQ(request.host_user->uid, 5U);
  EXPECT_EQ(request.host_user->gid, 5U);
  EXPECT_EQ(request.workdir, "/x");
}

TEST(ParseExec, KeepsVariablesInOrder) {
  const auto request = Parse({"-e", "B=1", "-e", "A=x=y", "-e", "B=2", "x"});
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"B", "1"}, {"A", "x=y"}, {"B", "2"}};
  EXPECT_EQ(request.environment, expected);
}

TEST(ParseExec, HelpListsEveryFlagAndReadsNoValue) {
  const auto command = ParseExec({"--memory", "rubbish", "-h"}, false);
  ASSERT_TRUE(command.has_value());
  for (const char* flag :
       {"--image",     "--volume",      "--volume-all",     "--volume-sockets", "--writable-root",
        "--store",     "--env",         "--env-file",       "--workdir",        "--user",
        "--host-user", "--interactive", "--network",        "--floor",          "--trace-id",
        "--timeout",   "--kill-after",  "--cpu-time",       "--memory",         "--pids-limit",
        "--cpus",      "--tmpfs-size",  "--require-limits", "--output-limit",   "--json",
        "--quiet"}) {
    EXPECT_NE(command->help.find(flag), std::string::npos) << flag;
  }
}

TEST(ParseExec, OfPlanTakesTheSameFlags) {
  EXPECT_TRUE(ParseExec({"--memory", "1G", "-v", "/a:/b", "true"}, true).has_value());
}

}  // namespace
}  // namespace plimsoll::cli
