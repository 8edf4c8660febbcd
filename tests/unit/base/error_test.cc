#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace plimsoll {
namespace {

TEST(ErrorMessage, IsTheOperationAloneWithoutErrnoAndContext) {
  const Error error{.kind = ErrorKind::kRequest, .what = "--memory 'x': expected a number"};
  EXPECT_EQ(error.Message(), "--memory 'x': expected a number");
}

TEST(ErrorMessage, EndsInTheErrnosTextAndName) {
  const Error error{.kind = ErrorKind::kHost, .what = "open '/x'", .sys_errno = ENOENT};
  EXPECT_EQ(error.Message(), "open '/x': No such file or directory (ENOENT)");
}

TEST(ErrorMessage, BeginsWithTheOutermostContext) {
  Error error{.kind = ErrorKind::kHost, .what = "open 'x'", .sys_errno = EACCES};
  const Error outer = std::move(error).In("layer 3 of 7").In("unpack image 'app'");
  EXPECT_EQ(outer.Message(),
            "unpack image 'app': layer 3 of 7: open 'x': Permission denied (EACCES)");
}

TEST(ErrorMessage, LeavesTheHintToOthers) {
  const Error error{
      .kind = ErrorKind::kHost, .what = "clone3", .hint = "do this", .sys_errno = EPERM};
  EXPECT_EQ(error.Message(), "clone3: Operation not permitted (EPERM)");
}

TEST(ErrorMessage, ShowsANumberThatLibcDoesNotKnow) {
  const Error error{.kind = ErrorKind::kHost, .what = "call", .sys_errno = 4000};
  EXPECT_EQ(error.Message(), "call: Unknown error (4000)");
}

TEST(Errno, HasItsNameAndIsFoundByIt) {
  EXPECT_EQ(DescribeErrno(EPERM), "EPERM (Operation not permitted)");
  EXPECT_EQ(DescribeErrno(4000), "errno 4000");
  EXPECT_EQ(ErrnoNumber("ENOSYS"), ENOSYS);
  EXPECT_EQ(ErrnoNumber("EHWPOISON"), EHWPOISON);
  EXPECT_EQ(ErrnoNumber("ENOTHING"), std::nullopt);
  EXPECT_EQ(ErrnoNumber(""), std::nullopt);
}

TEST(ReasonName, IsThatOfTheResponseForEveryKind) {
  EXPECT_EQ(ReasonName(ErrorKind::kUsage), "request");
  EXPECT_EQ(ReasonName(ErrorKind::kRequest), "request");
  EXPECT_EQ(ReasonName(ErrorKind::kPermission), "permission");
  EXPECT_EQ(ReasonName(ErrorKind::kProtocol), "protocol");
  EXPECT_EQ(ReasonName(ErrorKind::kUnsupported), "unsupported");
  EXPECT_EQ(ReasonName(ErrorKind::kIsolation), "isolation");
  EXPECT_EQ(ReasonName(ErrorKind::kEnvironment), "environment");
  EXPECT_EQ(ReasonName(ErrorKind::kCapacity), "capacity");
  EXPECT_EQ(ReasonName(ErrorKind::kHost), "host");
}

Result<int> Half(int number) {
  if (number % 2 == 0) return number / 2;
  return Error{.kind = ErrorKind::kRequest, .what = std::to_string(number) + " is odd"};
}

Result<int> Quarter(int number) {
  PLIMSOLL_TRY_ASSIGN(const int half, Half(number));
  return Half(half);
}

Result<void> CheckEven(int number) {
  PLIMSOLL_TRY(Half(number));
  return {};
}

TEST(TryMacros, PassTheFirstErrorOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().what, "3 is odd");
  EXPECT_EQ(Quarter(5).error().what, "5 is odd");
  EXPECT_TRUE(CheckEven(2).has_value());
  EXPECT_EQ(CheckEven(3).error().what, "3 is odd");
}

}  // namespace
}  // namespace plimsoll
