// SPDX-License-Identifier: Apache-2.0
#include "event/loop.h"

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "event/watches.h"
#include "support/expect.h"
#include "unit/event/notify_socket.h"
#include "unit/event/patience.h"

namespace pintle::event {
namespace {

class LoopTest : public testing::Test {
 protected:
  std::unique_ptr<Loop> loop_ = ValueOf(Loop::Create());
};

TEST_F(LoopTest, RunsFunctionsThatWerePostedBeforehandInOrder) {
  std::vector<int> ran;
  for (int i = 0; i < 3; ++i) loop_->Post([&ran, i] { ran.push_back(i); });
  loop_->Post([&] { loop_->Stop(); });
  ASSERT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_EQ(ran, (std::vector{0, 1, 2}));
}

TEST_F(LoopTest, ReturnsTheFirstOutcomeItWasStoppedWith) {
  loop_->Post([&] {
    loop_->Stop(Error(ErrorKind::kInvalid, "no config"));
    loop_->Stop();
  });
  EXPECT_EQ(MessageOf(RunPatiently(*loop_)), "no config");
}

TEST_F(LoopTest, RunsTheRemainingFunctionsTheNextTime) {
  bool second_ran = false;
  loop_->Post([&] { loop_->Stop(Error(ErrorKind::kInvalid, "first")); });
  loop_->Post([&] {
    second_ran = true;
    loop_->Stop();
  });
  EXPECT_EQ(MessageOf(RunPatiently(*loop_)), "first");
  EXPECT_FALSE(second_ran);
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_TRUE(second_ran);
}

TEST_F(LoopTest, AcceptsTasksFromManyThreadsAndKeepsTheOrderOfEach) {
  constexpr int kThreads = 4;
  constexpr int kTasks = 1000;
  std::array<std::vector<int>, kThreads> ran;
  int left = kThreads * kTasks;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int task = 0; task < kTasks; ++task) {
        loop_->Post([&, thread, task] {
          ran[static_cast<std::size_t>(thread)].push_back(task);
          if (--left == 0) loop_->Stop();
        });
      }
    });
  }
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<int>& tasks : ran) {
    EXPECT_EQ(tasks.size(), kTasks);
    EXPECT_TRUE(std::is_sorted(tasks.begin(), tasks.end()));
  }
}

TEST_F(LoopTest, DropsTasksThatItHasNotReached) {
  const auto held = std::make_shared<int>();
  loop_->Post([held] {});
  EXPECT_EQ(held.use_count(), 2);
  loop_.reset();
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(LoopTest, IsNotBlockedByTasksThatPostThemselvesAgain) {
  std::function<void()> again = [&] { loop_->Post(again); };
  loop_->Post(again);
  Timer timer(
      *loop_, [&] { loop_->Stop(); }, Slack(1));
  timer.After(std::chrono::milliseconds(0));
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(LoopTest, FeedsTheWatchdogWhileItTurns) {
  const NotifySocket systemd;
  ASSERT_TRUE(Succeeded(loop_->FeedWatchdog()));
  int fed = 0;
  const FdWatch watch = ValueOf(FdWatch::Create(*loop_, systemd.fd(), {.readable = true}, [&](FdReadiness) {
    EXPECT_EQ(systemd.Receive(), "WATCHDOG=1");
    if (++fed == 3) loop_->Stop();
  }));
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(LoopTest, NeedsNoWatchdog) { EXPECT_TRUE(Succeeded(loop_->FeedWatchdog())); }

}  // namespace
}  // namespace pintle::event
