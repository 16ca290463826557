// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include "support/expect.h"

namespace pintle {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const WallTime kBillion = WallTime(seconds(1'000'000'000));

TEST(Rfc3339, IsWrittenInUtcWithWholeSeconds) {
  EXPECT_EQ(ToRfc3339(kBillion), "2001-09-09T01:46:40Z");
  EXPECT_EQ(ToRfc3339(kBillion + milliseconds(999)), "2001-09-09T01:46:40Z");
  EXPECT_EQ(ToRfc3339(WallTime(seconds(-1))), "1969-12-31T23:59:59Z");
}

TEST(Rfc3339, IsReadWithFractionsAndOffsets) {
  EXPECT_EQ(ValueOf(FromRfc3339("2001-09-09T01:46:40Z")), kBillion);
  EXPECT_EQ(ValueOf(FromRfc3339("2001-09-09T03:46:40+02:00")), kBillion);
  EXPECT_EQ(ValueOf(FromRfc3339("2001-09-08T18:16:40.250-07:30")), kBillion + milliseconds(250));
}

// A certificate "without end" ends in the year 9999.
TEST(Rfc3339, ThatIsBeyondTheRangeOfOurClockIsReadAsVeryFarAway) {
  const WallTime late = ValueOf(FromRfc3339("9999-12-31T23:59:59Z"));
  EXPECT_GT(late, ValueOf(FromRfc3339("2261-12-31T00:00:00Z")));
  EXPECT_EQ(ValueOf(FromRfc3339("9999-12-31T23:59:59.999999999-23:59")), late);
  const WallTime early = ValueOf(FromRfc3339("0001-01-01T00:00:00Z"));
  EXPECT_LT(early, ValueOf(FromRfc3339("1678-12-31T00:00:00Z")));
  EXPECT_EQ(ValueOf(FromRfc3339("0000-01-01T00:00:00+23:59")), early);
}

TEST(Rfc3339, RefusesATextThatIsNoTime) {
  for (const char* text :
       {"", "2001-09-09", "2001-09-09 01:46:40Z", "2001-02-29T01:46:40Z", "2001-09-09T24:00:00Z", "2001-09-09T01:46:40",
        "2001-09-09T01:46:40.Z", "2001-09-09T01:46:40Zz", "2001-09-09t01:46:40z"}) {
    EXPECT_FALSE(FromRfc3339(text)) << text;
  }
  EXPECT_EQ(MessageOf(FromRfc3339("soon")), "\"soon\" is not a time such as 2026-11-21T05:41:43Z");
}

TEST(SystemClock, RunsForward) {
  const SystemClock clock;
  const MonotonicTime before = clock.Monotonic();
  EXPECT_LE(before, clock.Monotonic());
  EXPECT_GT(clock.Wall(), kBillion);
}

}  // namespace
}  // namespace pintle
