// SPDX-License-Identifier: Apache-2.0
#include "controller/complaints.h"

#include <gtest/gtest.h>

namespace pintle::controller {
namespace {

using std::chrono::minutes;

class ComplaintsTest : public testing::Test {
 protected:
  bool IsNews(const std::string& how, const std::string& what = "watching nodes") {
    return complaints_.IsNews(what, how, now_);
  }

  MonotonicTime now_ = MonotonicTime(minutes(1));
  Complaints complaints_;
};

TEST_F(ComplaintsTest, AreLoggedOnceAndIndependently) {
  EXPECT_TRUE(IsNews("refused"));
  EXPECT_FALSE(IsNews("refused"));
  EXPECT_TRUE(IsNews("refused", "watching pods"));
  EXPECT_TRUE(IsNews("away"));
  EXPECT_TRUE(IsNews("refused"));
}

TEST_F(ComplaintsTest, AreLoggedAgainAfterASuccess) {
  EXPECT_TRUE(IsNews("refused"));
  now_ += kForgottenAfter - minutes(1);
  EXPECT_FALSE(IsNews("refused"));
  now_ += kForgottenAfter;
  EXPECT_TRUE(IsNews("refused"));
}

TEST_F(ComplaintsTest, AreLoggedAgainAnHourLater) {
  int said = 0;
  for (int minute = 0; minute < 125; ++minute, now_ += minutes(1)) said += IsNews("refused") ? 1 : 0;
  EXPECT_EQ(said, 3);
}

}  // namespace
}  // namespace pintle::controller
