// SPDX-License-Identifier: Apache-2.0
#include "host/pause.h"

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

TEST(Pause, LastsUntilItIsEnded) {
  const TemporaryDirectory directory;
  const Root root = ValueOf(Root::Open(directory.path().string()));
  EXPECT_FALSE(ValueOf(IsPaused(root)));
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(Succeeded(Pause(root)));
    EXPECT_TRUE(ValueOf(IsPaused(root)));
  }
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(Succeeded(Resume(root)));
    EXPECT_FALSE(ValueOf(IsPaused(root)));
  }
}

TEST(Pause, CanBeEndedWithoutADirectory) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(Succeeded(Resume(ValueOf(Root::Open(directory.path().string())))));
}

}  // namespace
}  // namespace pintle::host
