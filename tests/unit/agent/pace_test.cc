// SPDX-License-Identifier: Apache-2.0
#include "agent/pace.h"

#include <gtest/gtest.h>

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonotonicTime kBegan(seconds(100));

TEST(Pace, RestsLongerAfterLongerWork) {
  Pace pace;
  EXPECT_LT(pace.next(), kBegan);
  pace.Took(kBegan, kBegan + milliseconds(50));
  EXPECT_EQ(pace.next(), kBegan + milliseconds(250));
  pace.Took(kBegan, kBegan + milliseconds(100));
  EXPECT_EQ(pace.next(), kBegan + milliseconds(500));
}

TEST(Pace, RestsForALimitedTime) {
  Pace pace;
  pace.Took(kBegan, kBegan + seconds(30));
  EXPECT_EQ(pace.next(), kBegan + seconds(32));
}

}  // namespace
}  // namespace pintle::agent
