// SPDX-License-Identifier: Apache-2.0
#include "controller/recent_reviews.h"

#include <gtest/gtest.h>

namespace pintle::controller {
namespace {

using kube::ReviewResult;
using std::chrono::seconds;

constexpr MonotonicTime kBeginning = MonotonicTime(seconds(1000));

TEST(RecentReviews, LastAMinuteForAPermittedToken) {
  RecentReviews reviews;
  reviews.Remember("a", ReviewResult::kPermitted, kBeginning);
  EXPECT_EQ(reviews.Find("a", kBeginning + seconds(59)), ReviewResult::kPermitted);
  EXPECT_EQ(reviews.PermittedFor("a", kBeginning + seconds(59)), seconds(1));
  EXPECT_EQ(reviews.Find("a", kBeginning + seconds(60)), std::nullopt);
  EXPECT_EQ(reviews.PermittedFor("a", kBeginning + seconds(61)), seconds(0));
}

TEST(RecentReviews, LastTenSecondsForARefusedToken) {
  RecentReviews reviews;
  reviews.Remember("a", ReviewResult::kUnauthenticated, kBeginning);
  reviews.Remember("b", ReviewResult::kForbidden, kBeginning);
  EXPECT_EQ(reviews.Find("a", kBeginning + seconds(9)), ReviewResult::kUnauthenticated);
  EXPECT_EQ(reviews.Find("b", kBeginning + seconds(9)), ReviewResult::kForbidden);
  EXPECT_EQ(reviews.PermittedFor("b", kBeginning), seconds(0));
  EXPECT_EQ(reviews.Find("a", kBeginning + seconds(10)), std::nullopt);
}

TEST(RecentReviews, KeepOnlyTheLastReviewOfAToken) {
  RecentReviews reviews;
  reviews.Remember("a", ReviewResult::kPermitted, kBeginning);
  reviews.Remember("a", ReviewResult::kForbidden, kBeginning + seconds(1));
  EXPECT_EQ(reviews.Find("a", kBeginning + seconds(2)), ReviewResult::kForbidden);
  EXPECT_EQ(reviews.Find("a", kBeginning + seconds(20)), std::nullopt) << "the earlier review counts no more";
  reviews.Remember("a", ReviewResult::kPermitted, kBeginning + seconds(30));
  EXPECT_EQ(reviews.Find("a", kBeginning + seconds(31)), ReviewResult::kPermitted);
  EXPECT_EQ(reviews.size(), 1U);
}

TEST(RecentReviews, KeepTheNewestOnesWhenThereAreManyTokens) {
  RecentReviews reviews;
  reviews.Remember("good", ReviewResult::kPermitted, kBeginning);
  for (int i = 0; i < 10'000; ++i) {
    reviews.Remember(std::to_string(i), ReviewResult::kUnauthenticated, kBeginning + std::chrono::microseconds(i));
  }
  EXPECT_EQ(reviews.size(), RecentReviews::kMostRefused + 1);
  EXPECT_EQ(reviews.Find("9999", kBeginning + seconds(1)), ReviewResult::kUnauthenticated);
  EXPECT_EQ(reviews.Find("0", kBeginning + seconds(1)), std::nullopt);
  EXPECT_EQ(reviews.Find("good", kBeginning + seconds(1)), ReviewResult::kPermitted)
      << "wrong tokens displace no good one";
}

TEST(RecentReviews, HaveAKeyThatDoesNotContainTheToken) {
  EXPECT_EQ(KeyOfToken("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace pintle::controller
