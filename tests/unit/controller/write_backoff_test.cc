// SPDX-License-Identifier: Apache-2.0
#include "controller/write_backoff.h"

#include <gtest/gtest.h>

namespace pintle::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const WriteBackoff::Key kNode = {"node", "a"};

// Returns how often a write that always fails is tried in this time, if the caller looks again and again.
int AttemptsIn(WriteBackoff& backoff, MonotonicTime begin, milliseconds time) {
  int attempts = 0;
  for (MonotonicTime now = begin; now < begin + time; now += milliseconds(100)) {
    if (!backoff.IsDue(kNode, now)) continue;
    ++attempts;
    backoff.Failed(kNode, now);
  }
  return attempts;
}

TEST(WriteBackoff, WaitsFromASecondToFiveMinutes) {
  for (const double random : {0.0, 0.999}) {
    WriteBackoff backoff([random] { return random; });
    MonotonicTime now = {};
    milliseconds last(0);
    for (int count = 1; count <= 12; ++count) {
      EXPECT_TRUE(backoff.IsDue(kNode, now));
      EXPECT_EQ(backoff.Failed(kNode, now), count);
      const auto wait = std::chrono::duration_cast<milliseconds>(backoff.DueAt(kNode, now).value() - now);
      EXPECT_GE(wait, std::max(last, milliseconds(1000)));
      EXPECT_LE(wait, minutes(5));
      last = wait;
      now += wait;
    }
    EXPECT_GE(last, minutes(4));
  }
}

TEST(WriteBackoff, TriesSixTimesInTheFirstMinuteAndSeldomLater) {
  WriteBackoff backoff([] { return 0.0; });
  EXPECT_EQ(AttemptsIn(backoff, {}, minutes(1)), 6);
  EXPECT_LE(AttemptsIn(backoff, MonotonicTime(minutes(1)), minutes(60)), 20);
}

TEST(WriteBackoff, IsSeparateForEachObjectAndKindOfWrite) {
  WriteBackoff backoff([] { return 0.0; });
  backoff.Failed(kNode, {});
  EXPECT_FALSE(backoff.IsDue(kNode, {}));
  EXPECT_TRUE(backoff.IsDue({"node", "b"}, {}));
  EXPECT_TRUE(backoff.IsDue({"status", "a"}, {}));
}

TEST(WriteBackoff, IsResetByASuccess) {
  WriteBackoff backoff([] { return 0.0; });
  for (int i = 0; i < 8; ++i) backoff.Failed(kNode, {});
  backoff.Succeeded(kNode);
  EXPECT_TRUE(backoff.IsDue(kNode, {}));
  EXPECT_EQ(backoff.Failed(kNode, {}), 1);
}

TEST(WriteBackoff, ForgetsAWriteThatIsNoLongerTried) {
  WriteBackoff backoff([] { return 0.0; });
  backoff.Failed(kNode, {});
  EXPECT_EQ(backoff.Failed(kNode, MonotonicTime(minutes(9))), 2);
  EXPECT_EQ(backoff.Failed({"node", "b"}, MonotonicTime(minutes(30))), 1);
  EXPECT_EQ(backoff.Failed(kNode, MonotonicTime(minutes(30))), 1);
}

TEST(WriteBackoff, KeepsTheDelayThatTheServerAsksFor) {
  WriteBackoff backoff([] { return 0.0; });
  backoff.Failed(kNode, {}, seconds(20));
  EXPECT_EQ(backoff.DueAt(kNode, {}), MonotonicTime(seconds(20)));
}

TEST(WriteBackoff, AllowsAFewConflictsWithoutADelay) {
  WriteBackoff backoff([] { return 0.0; });
  backoff.CountConflict(kNode, {});
  EXPECT_TRUE(backoff.IsDue(kNode, {}));
  backoff.CountConflict(kNode, {});
  EXPECT_TRUE(backoff.IsDue(kNode, {}));
  backoff.CountConflict(kNode, {});
  EXPECT_EQ(backoff.DueAt(kNode, {}), MonotonicTime(seconds(1)));
}

}  // namespace
}  // namespace pintle::controller
