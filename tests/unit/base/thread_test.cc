// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

#include <memory>

#include "support/expect.h"
#include "support/refused_calls.h"

namespace pintle {
namespace {

TEST(StartThread, AcceptsAMoveOnlyFunction) {
  int done = 0;
  auto thread = StartThread([&done, by = std::make_unique<int>(3)] { done = *by; });
  ASSERT_TRUE(Succeeded(thread));
  (*thread).join();
  EXPECT_EQ(done, 3);
}

TEST(StartThread, NamesTheLimitsIfNoThreadCanBeStarted) {
  std::string message;
  WithoutMoreThreads([&] { message = MessageOf(StartThread([] {})); });
  EXPECT_EQ(message,
            "starting a thread (check the limits TasksMax= of the service, ulimit -u and kernel.threads-max): Resource "
            "temporarily unavailable");
}

TEST(StartThread, BlocksTheSignalsThatTheCallerBlocks) {
  sigset_t blocked;
  {
    const AllSignalsBlocked all;
    auto thread = StartThread([&] { ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked); });
    ASSERT_TRUE(Succeeded(thread));
    (*thread).join();
  }
  EXPECT_EQ(::sigismember(&blocked, SIGTERM), 1);
  sigset_t own;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(::sigismember(&own, SIGTERM), 0);
}

}  // namespace
}  // namespace pintle
