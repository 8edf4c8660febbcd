#include "policy/calls.h"

#include <asm/unistd.h>
#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <utility>

namespace plimsoll::policy {
namespace {

TEST(Calls, HaveTheKernelsNumbers) {
  const std::pair<std::string_view, std::uint32_t> known[] = {
      {"read", __NR_read},
      {"open", __NR_open},
      {"fstat", __NR_fstat},
      {"stat", __NR_stat},
      {"pread64", __NR_pread64},
      {"sendfile", __NR_sendfile},
      {"clone", __NR_clone},
      {"umount2", __NR_umount2},
      {"_sysctl", __NR__sysctl},
      {"epoll_ctl_old", __NR_epoll_ctl_old},
      {"newfstatat", __NR_newfstatat},
      {"rseq", __NR_rseq},
      {"io_uring_setup", __NR_io_uring_setup},
      {"clone3", __NR_clone3},
      {"set_mempolicy_home_node", __NR_set_mempolicy_home_node},
  };
  for (const auto& [name, number] : known) {
    EXPECT_EQ(NumberOfCall(name), number) << name;
    EXPECT_EQ(NameOfCall(number), name);
  }
}

TEST(Calls, EveryNameIsOfOneNumberAndBack) {
  std::set<std::string_view> names;
  for (const std::string_view name : CallNames()) {
    const auto number = NumberOfCall(name);
    ASSERT_TRUE(number.has_value()) << name;
    EXPECT_EQ(NameOfCall(*number), name);
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_GT(names.size(), 350);
}

TEST(Calls, EveryNumberUpToTheLastKnownOneHasANameButThoseThatNoCallHas) {
  for (std::uint32_t number = 0; number <= __NR_rseq; ++number)
    EXPECT_FALSE(NameOfCall(number).empty()) << number;
  for (std::uint32_t number = __NR_pidfd_send_signal; number <= 450; ++number)
    EXPECT_FALSE(NameOfCall(number).empty()) << number;
}

TEST(Calls, AnswerNothingForWhatThereIsNot) {
  for (const std::string_view name : {"", "raed", "READ", "read ", "chown32", "zzz", "\xff"}) {
    EXPECT_EQ(NumberOfCall(name), std::nullopt) << name;
  }
  for (const std::uint32_t number : {400U, 9999U, 0x40000000U, UINT32_MAX}) {
    EXPECT_EQ(NameOfCall(number), "") << number;
  }
}

}  // namespace
}  // namespace plimsoll::policy
