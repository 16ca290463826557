// SPDX-License-Identifier: Apache-2.0
#include "agent/progress_pace.h"

#include <gtest/gtest.h>

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonotonicTime kBegan(seconds(100));

TEST(ProgressPace, ShowsWhatIsDoneAtOnce) {
  ProgressPace pace;
  EXPECT_EQ(pace.Take({"looking"}, kBegan), "looking");
  EXPECT_EQ(pace.Take({"fetching"}, kBegan), "fetching");
  EXPECT_EQ(pace.due(), std::nullopt);
}

TEST(ProgressPace, ShowsHowFarItIsOnceASecondAndTheNewestThen) {
  ProgressPace pace;
  pace.Take({"fetching"}, kBegan);
  for (unsigned percent = 0; percent <= 43; ++percent) {
    EXPECT_EQ(pace.Take({"fetching", "downloading", percent}, kBegan + milliseconds(percent)), std::nullopt);
  }
  EXPECT_EQ(pace.due(), kBegan + seconds(1));
  EXPECT_EQ(pace.Due(kBegan + milliseconds(999)), std::nullopt);
  EXPECT_EQ(pace.Due(kBegan + seconds(1)), "fetching: downloading, 43 %");
  EXPECT_EQ(pace.due(), std::nullopt);
  EXPECT_EQ(pace.Due(kBegan + seconds(9)), std::nullopt) << "it is shown already";
  EXPECT_EQ(pace.Take({"fetching", "downloading", 44}, kBegan + milliseconds(1999)), std::nullopt);
  EXPECT_EQ(pace.Take({"fetching", "unpacking"}, kBegan + seconds(2)), "fetching: unpacking");
}

TEST(ProgressPace, LetsWhatWaitedGiveWayToWhatIsDoneNext) {
  ProgressPace pace;
  pace.Take({"fetching"}, kBegan);
  pace.Take({"fetching", "downloading", 43}, kBegan);
  EXPECT_EQ(pace.Take({"applying"}, kBegan + milliseconds(1)), "applying");
  EXPECT_EQ(pace.due(), std::nullopt);
  pace.Take({"applying", "", 1}, kBegan + milliseconds(2));
  pace.Forget();
  EXPECT_EQ(pace.due(), std::nullopt);
  EXPECT_EQ(pace.Take({"applying", "", 2}, kBegan + milliseconds(3)), "applying: 2 %");
}

}  // namespace
}  // namespace pintle::agent
