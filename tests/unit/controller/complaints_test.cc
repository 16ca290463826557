// SPDX-License-Identifier: Apache-2.0
#include "controller/complaints.h"

#include <gtest/gtest.h>

namespace pintle::controller {
namespace {

using std::chrono::minutes;

class ComplaintsTest : public testing::Test {
 protected:
  bool ShouldLog(const std::string& message, const std::string& activity = "watching nodes") {
    return complaints_.ShouldLog(activity, message, now_);
  }

  MonotonicTime now_ = MonotonicTime(minutes(1));
  Complaints complaints_;
};

TEST_F(ComplaintsTest, AreLoggedOnceAndIndependently) {
  EXPECT_TRUE(ShouldLog("refused"));
  EXPECT_FALSE(ShouldLog("refused"));
  EXPECT_TRUE(ShouldLog("refused", "watching pods"));
  EXPECT_TRUE(ShouldLog("away"));
  EXPECT_TRUE(ShouldLog("refused"));
}

TEST_F(ComplaintsTest, AreLoggedAgainIfTheActionHasNotFailedForAWhile) {
  EXPECT_TRUE(ShouldLog("refused"));
  now_ += kForgottenAfter - minutes(1);
  EXPECT_FALSE(ShouldLog("refused"));
  now_ += kForgottenAfter;
  EXPECT_TRUE(ShouldLog("refused"));
}

TEST_F(ComplaintsTest, AreLoggedAgainAnHourLater) {
  int logged = 0;
  for (int minute = 0; minute < 125; ++minute, now_ += minutes(1)) logged += ShouldLog("refused") ? 1 : 0;
  EXPECT_EQ(logged, 3);
}

}  // namespace
}  // namespace pintle::controller
