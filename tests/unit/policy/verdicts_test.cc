#include "policy/verdicts.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace plimsoll::policy {
namespace {

const Decision kAllowed = {.otherwise = SECCOMP_RET_ALLOW};
const Decision kRefused = {.otherwise = Refuse(EPERM)};
const Decision kAbsentCall = {.otherwise = Refuse(ENOSYS)};
const Decision kAllowedWithZero = {
    .rules = {{.tests = {{.index = 0}}, .action = SECCOMP_RET_ALLOW}}, .otherwise = Refuse(EPERM)};

using Ranges = std::map<std::uint32_t, Decision>;

TEST(Refuse, IsTheKernelsWordForAnErrno) {
  EXPECT_EQ(Refuse(EPERM), 0x00050001U);
}

TEST(Verdicts, SetReplacesARangeAndLeavesItsNeighbours) {
  Verdicts verdicts(kRefused);
  verdicts.Set(10, 20, kAllowed);
  verdicts.Set(15, kAbsentCall);
  EXPECT_EQ(
      verdicts.Ranges(),
      (Ranges{{0, kRefused}, {10, kAllowed}, {15, kAbsentCall}, {16, kAllowed}, {21, kRefused}}));
}

TEST(Verdicts, SetCoversBordersInsideTheRange) {
  Verdicts verdicts(kRefused);
  verdicts.Set(10, kAllowed);
  verdicts.Set(12, kAllowed);
  verdicts.Set(9, 13, kAbsentCall);
  EXPECT_EQ(verdicts.Ranges(), (Ranges{{0, kRefused}, {9, kAbsentCall}, {14, kRefused}}));
}

TEST(Verdicts, EqualNeighboursAreOneRange) {
  Verdicts verdicts(kRefused);
  verdicts.Set(10, kAllowed);
  verdicts.Set(12, kAllowed);
  verdicts.Set(11, kAllowed);
  EXPECT_EQ(verdicts.Ranges(), (Ranges{{0, kRefused}, {10, kAllowed}, {13, kRefused}}));
  verdicts.Set(10, 12, kRefused);
  EXPECT_EQ(verdicts.Ranges(), (Ranges{{0, kRefused}}));
}

TEST(Verdicts, ReachFromTheFirstToTheLastNumber) {
  Verdicts verdicts(kRefused);
  verdicts.Set(0, kAllowed);
  verdicts.Set(UINT32_MAX, kAbsentCall);
  EXPECT_EQ(verdicts.At(0), kAllowed);
  EXPECT_EQ(verdicts.At(1), kRefused);
  EXPECT_EQ(verdicts.At(UINT32_MAX - 1), kRefused);
  EXPECT_EQ(verdicts.At(UINT32_MAX), kAbsentCall);
}

TEST(Stack, WhatTheGuardRefusesIsRefusedWhateverTheProfileSays) {
  Verdicts guard(kAllowed);
  guard.Set(5, 6, kAbsentCall);
  for (const Decision& profile : {kAllowed, kRefused, kAllowedWithZero}) {
    EXPECT_EQ(Stack(guard, Verdicts(profile)).At(5), kAbsentCall);
  }
}

TEST(Stack, TheProfileDecidesWhatTheGuardLetsPass) {
  Verdicts guard(kAllowed);
  guard.Set(5, kAbsentCall);
  Verdicts profile(kRefused);
  profile.Set(4, 7, kAllowedWithZero);
  EXPECT_EQ(Stack(guard, profile).Ranges(), (Ranges{{0, kRefused},
                                                    {4, kAllowedWithZero},
                                                    {5, kAbsentCall},
                                                    {6, kAllowedWithZero},
                                                    {8, kRefused}}));
}

TEST(Stack, TheGuardsRulesComeBeforeTheProfiles) {
  const Rule refusal{.tests = {{.index = 1, .value = 3}}, .action = Refuse(EPERM)};
  Verdicts guard(kAllowed);
  guard.Set(5, {.rules = {refusal}});
  const Decision both = Stack(guard, Verdicts(kAllowedWithZero)).At(5);
  EXPECT_EQ(both,
            (Decision{.rules = {refusal, kAllowedWithZero.rules[0]}, .otherwise = Refuse(EPERM)}));
}

}  // namespace
}  // namespace plimsoll::policy
