// SPDX-License-Identifier: Apache-2.0
#include "event/worker.h"

#include <csignal>
#include <future>
#include <vector>

#include "event/loop.h"
#include "event/watches.h"
#include "support/expect.h"
#include "unit/event/patience.h"

namespace pintle::event {
namespace {

class WorkerTest : public testing::Test {
 protected:
  std::unique_ptr<Loop> loop_ = ValueOf(Loop::Create());
  std::unique_ptr<Worker> worker_ = ValueOf(Worker::Create(*loop_));
};

void WaitUntilStopped(const std::stop_token& stop) {
  std::promise<void> stopped;
  const std::stop_callback callback(stop, [&] { stopped.set_value(); });
  stopped.get_future().wait();
}

TEST_F(WorkerTest, RunsOnAnotherThreadAndPassesTheValueToTheLoop) {
  const auto loop_thread = std::this_thread::get_id();
  worker_->Run<std::thread::id>([](std::stop_token) { return std::this_thread::get_id(); },
                                [&](std::thread::id work_thread) {
                                  EXPECT_NE(work_thread, loop_thread);
                                  EXPECT_EQ(std::this_thread::get_id(), loop_thread);
                                  loop_->Stop();
                                });
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(WorkerTest, RunsJobsOneAfterTheOther) {
  std::vector<int> finished;
  for (int i = 0; i < 100; ++i) {
    worker_->Run<int>([i](std::stop_token) { return i; },
                      [&](int value) {
                        finished.push_back(value);
                        if (value == 99) loop_->Stop();
                      });
  }
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_EQ(finished.size(), 100U);
  EXPECT_TRUE(std::is_sorted(finished.begin(), finished.end()));
}

TEST_F(WorkerTest, AcceptsMoveOnlyArgumentsAndValues) {
  worker_->Run<Result<std::unique_ptr<int>>>(
      [number = std::make_unique<int>(20)](std::stop_token) mutable {
        *number += 1;
        return std::move(number);
      },
      [&](Result<std::unique_ptr<int>> number) {
        EXPECT_EQ(*ValueOf(std::move(number)), 21);
        loop_->Stop();
      });
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(WorkerTest, AsksAllItsJobsToStopWhenTheyAreCancelled) {
  int finished = 0;
  const auto done = [&](bool was_asked_to_stop) {
    EXPECT_TRUE(was_asked_to_stop);
    if (++finished == 2) loop_->Stop();
  };
  worker_->Run<bool>(
      [](std::stop_token stop) {
        WaitUntilStopped(stop);
        return true;
      },
      done);
  worker_->Run<bool>([](std::stop_token stop) { return stop.stop_requested(); }, done);
  worker_->Cancel();
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(WorkerTest, RunsJobsGivenAfterACancel) {
  worker_->Run<bool>([](std::stop_token stop) { return stop.stop_requested(); }, [](bool) {});
  worker_->Cancel();
  worker_->Run<bool>([](std::stop_token stop) { return stop.stop_requested(); },
                     [&](bool was_asked_to_stop) {
                       EXPECT_FALSE(was_asked_to_stop);
                       loop_->Stop();
                     });
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(WorkerTest, StopsTheRunningJobAndDropsTheWaitingJobsWhenItIsDestroyed) {
  std::promise<void> started;
  worker_->Run<int>(
      [&](std::stop_token stop) {
        started.set_value();
        WaitUntilStopped(stop);
        return 1;
      },
      [](int) { FAIL() << "the owner of the worker is gone"; });
  worker_->Run<int>([](std::stop_token) { return 2; }, [](int) { FAIL() << "the owner of the worker is gone"; });
  started.get_future().wait();
  worker_.reset();
  Settle(*loop_);
}

TEST_F(WorkerTest, CallsNothingIfItIsDestroyedBeforeTheLoopHandlesTheEndOfTheJob) {
  std::promise<void> first_ended;
  worker_->Run<int>([](std::stop_token) { return 1; }, [](int) { FAIL() << "the owner of the worker is gone"; });
  worker_->Run<int>(
      [&](std::stop_token) {
        first_ended.set_value();  // Jobs run one after the other.
        return 2;
      },
      [](int) { FAIL() << "the owner of the worker is gone"; });
  first_ended.get_future().wait();
  worker_.reset();
  Settle(*loop_);
}

TEST_F(WorkerTest, MayBeDestroyedByTheEndOfAJob) {
  const auto held = std::make_shared<int>();
  worker_->Run<int>([](std::stop_token) { return 1; },
                    [this, held](int) {
                      worker_.reset();
                      EXPECT_EQ(held.use_count(), 2);
                      loop_->Stop();
                    });
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(WorkerTest, LeavesAllSignalsToTheLoop) {
  worker_->Run<bool>(
      [](std::stop_token) {
        sigset_t blocked;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        return ::sigismember(&blocked, SIGTERM) == 1 && ::sigismember(&blocked, SIGCHLD) == 1;
      },
      [&](bool both_blocked) {
        EXPECT_TRUE(both_blocked);
        loop_->Stop();
      });
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

class WorkerInTurnsTest : public testing::Test {
 protected:
  std::unique_ptr<Loop> loop_ = ValueOf(Loop::Create(Loop::Jobs::kInTurns));
  std::unique_ptr<Worker> worker_ = ValueOf(Worker::Create(*loop_));
};

TEST_F(WorkerInTurnsTest, RunsOnTheLoopAndNeverInsideTheCallThatAddsTheJob) {
  const auto loop_thread = std::this_thread::get_id();
  std::vector<std::string> happened;
  worker_->Run<std::thread::id>(
      [&](std::stop_token) {
        happened.emplace_back("work");
        return std::this_thread::get_id();
      },
      [&](std::thread::id work_thread) {
        happened.emplace_back("done");
        EXPECT_EQ(work_thread, loop_thread);
        loop_->Stop();
      });
  happened.emplace_back("given");
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_THAT(happened, testing::ElementsAre("given", "work", "done"));
}

TEST_F(WorkerInTurnsTest, CallsNothingIfItIsDestroyedBeforeOrAfterAJob) {
  for (const bool is_before : {true, false}) {
    worker_ = ValueOf(Worker::Create(*loop_));
    int begun = 0;
    worker_->Run<int>(
        [&](std::stop_token) {
          ++begun;
          loop_->Stop();
          return 1;
        },
        [](int) { FAIL() << "the owner of the worker is gone"; });
    if (!is_before) {
      EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
    }
    worker_.reset();
    Settle(*loop_);
    EXPECT_EQ(begun, is_before ? 0 : 1);
  }
}

}  // namespace
}  // namespace pintle::event
