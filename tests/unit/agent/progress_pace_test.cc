// SPDX-License-Identifier: Apache-2.0
#include "agent/progress_pace.h"

#include <gtest/gtest.h>

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonotonicTime kProgressBegan(seconds(100));

TEST(ProgressPace, ReportsANewActivityAtOnce) {
  ProgressPace pace;
  EXPECT_EQ(pace.Take({"looking"}, kProgressBegan), "looking");
  EXPECT_EQ(pace.Take({"fetching"}, kProgressBegan), "fetching");
  EXPECT_EQ(pace.next_time(), std::nullopt);
}

TEST(ProgressPace, ReportsTheNewestProgressOnceASecond) {
  ProgressPace pace;
  pace.Take({"fetching"}, kProgressBegan);
  for (unsigned percent = 0; percent <= 43; ++percent) {
    EXPECT_EQ(pace.Take({"fetching", "downloading", percent}, kProgressBegan + milliseconds(percent)), std::nullopt);
  }
  EXPECT_EQ(pace.next_time(), kProgressBegan + seconds(1));
  EXPECT_EQ(pace.TakeIfDue(kProgressBegan + milliseconds(999)), std::nullopt);
  EXPECT_EQ(pace.TakeIfDue(kProgressBegan + seconds(1)), "fetching: downloading, 43 %");
  EXPECT_EQ(pace.next_time(), std::nullopt);
  EXPECT_EQ(pace.TakeIfDue(kProgressBegan + seconds(9)), std::nullopt) << "it is reported already";
  EXPECT_EQ(pace.Take({"fetching", "downloading", 44}, kProgressBegan + milliseconds(1999)), std::nullopt);
  EXPECT_EQ(pace.Take({"fetching", "unpacking"}, kProgressBegan + seconds(2)), "fetching: unpacking");
}

TEST(ProgressPace, DropsAWaitingReportWhenTheNextActivityBegins) {
  ProgressPace pace;
  pace.Take({"fetching"}, kProgressBegan);
  pace.Take({"fetching", "downloading", 43}, kProgressBegan);
  EXPECT_EQ(pace.Take({"applying"}, kProgressBegan + milliseconds(1)), "applying");
  EXPECT_EQ(pace.next_time(), std::nullopt);
  pace.Take({"applying", "", 1}, kProgressBegan + milliseconds(2));
  pace.Forget();
  EXPECT_EQ(pace.next_time(), std::nullopt);
  EXPECT_EQ(pace.Take({"applying", "", 2}, kProgressBegan + milliseconds(3)), "applying: 2 %");
}

}  // namespace
}  // namespace pintle::agent
