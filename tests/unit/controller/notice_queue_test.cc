// SPDX-License-Identifier: Apache-2.0
#include "controller/notice_queue.h"

#include <gmock/gmock.h>

#include <utility>
#include <vector>

#include "support/expect.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = NoticeQueue::Outcome::Kind;

Notice NoticeWithId(const std::string& id) {
  Notice notice;
  notice.id = id;
  notice.type = "type-of-" + id;
  notice.subject = "nodes/" + id;
  return notice;
}

class NoticeQueueTest : public testing::Test {
 protected:
  // Ends the attempt that is under way.
  void End(Kind kind, std::string why = "") {
    const auto done = std::exchange(done_, nullptr);
    ASSERT_TRUE(done);
    done({.kind = kind, .why = std::move(why)});
  }
  // Runs the loop until the next attempt begins.
  void AwaitAttempt() {
    is_awaiting_ = true;
    ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
    is_awaiting_ = false;
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  bool is_awaiting_ = false;
  std::vector<std::string> attempts_;  // The ids in the order of the attempts.
  std::function<void(NoticeQueue::Outcome)> done_;
  std::vector<std::string> troubles_;
  NoticeQueue queue_{
      *loop_,
      {.max_notices = 3,
       .pauses = {.first = std::chrono::milliseconds(1), .longest = std::chrono::milliseconds(2), .jitter = 0}},
      [] { return 0.0; },
      [this](const Notice& notice, std::function<void(NoticeQueue::Outcome)> done) {
        attempts_.push_back(notice.id);
        done_ = std::move(done);
        if (is_awaiting_) loop_->Stop();
      },
      {.counted = [] {}, .trouble = [this](const Error& error) { troubles_.push_back(error.message()); }}};
};

TEST_F(NoticeQueueTest, SendsANoticeOnlyAfterTheOneBeforeHasArrived) {
  queue_.Add(NoticeWithId("a"));
  queue_.Add(NoticeWithId("b"));
  EXPECT_THAT(attempts_, ElementsAre("a"));
  End(Kind::kTaken);
  EXPECT_THAT(attempts_, ElementsAre("a", "b"));
  End(Kind::kTaken);
  EXPECT_EQ(queue_.size(), 0U);
  EXPECT_EQ(queue_.counts().sent, 2U);
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(NoticeQueueTest, RepeatsAFailedAttemptAfterAPause) {
  queue_.Add(NoticeWithId("a"));
  queue_.Add(NoticeWithId("b"));
  End(Kind::kFailed, "hook answers 503");
  EXPECT_THAT(attempts_, ElementsAre("a"));
  // A new notice does not shorten the pause.
  queue_.Add(NoticeWithId("c"));
  EXPECT_THAT(attempts_, ElementsAre("a"));
  AwaitAttempt();
  EXPECT_THAT(attempts_, ElementsAre("a", "a"));
  End(Kind::kTaken);
  EXPECT_THAT(attempts_, ElementsAre("a", "a", "b"));
  EXPECT_EQ(queue_.counts().sent, 1U);
  EXPECT_EQ(queue_.counts().failed, 1U);
  EXPECT_EQ(queue_.counts().dropped, 0U);
  EXPECT_THAT(troubles_, ElementsAre("hook answers 503"));
}

TEST_F(NoticeQueueTest, DropsANoticeThatTheReceiverRefuses) {
  queue_.Add(NoticeWithId("a"));
  queue_.Add(NoticeWithId("b"));
  End(Kind::kRefused, "hook answers 400");
  EXPECT_THAT(attempts_, ElementsAre("a", "b"));
  EXPECT_EQ(queue_.counts().dropped, 1U);
  EXPECT_EQ(queue_.counts().failed, 1U);
  EXPECT_THAT(troubles_, ElementsAre("hook answers 400, so the notice type-of-a about nodes/a is dropped"));
}

TEST_F(NoticeQueueTest, DropsTheOldestOnesThatAreNotOnTheirWay) {
  for (const char* id : {"a", "b", "c", "d", "e"}) queue_.Add(NoticeWithId(id));
  EXPECT_EQ(queue_.size(), 3U);
  EXPECT_EQ(queue_.counts().dropped, 2U);
  ASSERT_EQ(troubles_.size(), 2U);
  EXPECT_THAT(troubles_[0], HasSubstr("too many notices wait"));
  for (int i = 0; i < 3; ++i) End(Kind::kTaken);
  EXPECT_THAT(attempts_, ElementsAre("a", "d", "e"));
}

TEST_F(NoticeQueueTest, DropsFirstTheNoticesOfANodeWithManyFaults) {
  const auto fault = [](const std::string& id) {
    Notice notice = NoticeWithId(id);
    notice.subject = "nodes/flapping";
    return notice;
  };
  queue_.Add(NoticeWithId("on its way"));
  queue_.Add(NoticeWithId("rollout"));
  for (const char* id : {"f1", "f2", "f3"}) queue_.Add(fault(id));
  EXPECT_EQ(queue_.counts().dropped, 2U);
  for (int i = 0; i < 3; ++i) End(Kind::kTaken);
  EXPECT_THAT(attempts_, ElementsAre("on its way", "rollout", "f3"));
}

TEST_F(NoticeQueueTest, IgnoresTheOutcomeOfAnAttemptThatWasForgotten) {
  queue_.Add(NoticeWithId("a"));
  const auto late = std::exchange(done_, nullptr);
  queue_.Clear();
  queue_.Add(NoticeWithId("b"));
  late({.kind = Kind::kTaken});
  EXPECT_EQ(queue_.counts().sent, 0U);
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_THAT(attempts_, ElementsAre("a", "b"));
  End(Kind::kTaken);
  EXPECT_EQ(queue_.counts().sent, 1U);
}

}  // namespace
}  // namespace pintle::controller
