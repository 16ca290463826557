// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <memory>

#include "support/expect.h"

namespace pintle {
namespace {

Result<int> Half(int whole) {
  if (whole % 2 != 0) return Error(ErrorKind::kInvalid, "odd");
  return whole / 2;
}

Result<> Check(bool fine) {
  if (!fine) return Error::FromErrno("open", ENOENT);
  return {};
}

Result<int> Quarter(int whole) { return TRY(Half(TRY(Half(whole), "halving once")), "halving twice"); }

Result<std::string> DescribeText(bool fine) {
  TRY(Check(fine), "checking");
  return std::string("fine");
}

Result<std::unique_ptr<int>> Boxed(int value) { return std::make_unique<int>(value); }

Result<int> Unboxed(int value) {
  std::unique_ptr<int> box = TRY(Boxed(value));
  return *box;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(ValueOf(Half(4)), 2);
  EXPECT_EQ(Half(3).error().kind(), ErrorKind::kInvalid);
}

TEST(Result, TryInsideATryHandsUpTheInnerError) {
  EXPECT_EQ(ValueOf(Quarter(12)), 3);
  EXPECT_EQ(MessageOf(Quarter(3)), "halving once: odd");
  EXPECT_EQ(MessageOf(Quarter(6)), "halving twice: odd");
}

TEST(Result, TryMovesAValueThatCannotBeCopied) { EXPECT_EQ(ValueOf(Unboxed(7)), 7); }

TEST(Result, TryOfAResultWithoutAValueIsAStatement) {
  EXPECT_EQ(ValueOf(DescribeText(true)), "fine");
  EXPECT_EQ(MessageOf(DescribeText(false)), "checking: open: No such file or directory");
}

TEST(Result, AddsTheContextOnlyToAnError) {
  int calls = 0;
  const auto doing = [&] {
    ++calls;
    return "asking";
  };
  const auto ask = [&](int whole) -> Result<int> { return TRY(Half(whole), doing()); };
  EXPECT_TRUE(ask(2));
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(ask(1));
  EXPECT_EQ(calls, 1);
}

TEST(Error, KeepsTheErrnoThroughEveryChain) {
  const Error error = Error::FromErrno("open", EROFS).While("writing /etc/motd").While("applying worker-1");
  EXPECT_EQ(error.errno_value(), EROFS);
  EXPECT_EQ(error.kind(), ErrorKind::kSystem);
  EXPECT_EQ(error.message(), "applying worker-1: writing /etc/motd: open: Read-only file system");
}

TEST(Error, OfAMissingFileHasItsOwnKind) { EXPECT_EQ(Error::FromErrno("open", ENOENT).kind(), ErrorKind::kNotFound); }

}  // namespace
}  // namespace pintle
