// SPDX-License-Identifier: Apache-2.0
#include "controller/admissions.h"

#include <gtest/gtest.h>

namespace pintle::controller {
namespace {

using kube::Admission;
using std::chrono::seconds;

constexpr MonotonicTime kBeginning = MonotonicTime(seconds(1000));

TEST(Admissions, LastAMinuteForAPermittedToken) {
  Admissions admissions;
  admissions.Remember("a", Admission::kPermitted, kBeginning);
  EXPECT_EQ(admissions.Find("a", kBeginning + seconds(59)), Admission::kPermitted);
  EXPECT_EQ(admissions.PermittedFor("a", kBeginning + seconds(59)), seconds(1));
  EXPECT_EQ(admissions.Find("a", kBeginning + seconds(60)), std::nullopt);
  EXPECT_EQ(admissions.PermittedFor("a", kBeginning + seconds(61)), seconds(0));
}

TEST(Admissions, LastTenSecondsForARefusedToken) {
  Admissions admissions;
  admissions.Remember("a", Admission::kUnauthenticated, kBeginning);
  admissions.Remember("b", Admission::kForbidden, kBeginning);
  EXPECT_EQ(admissions.Find("a", kBeginning + seconds(9)), Admission::kUnauthenticated);
  EXPECT_EQ(admissions.Find("b", kBeginning + seconds(9)), Admission::kForbidden);
  EXPECT_EQ(admissions.PermittedFor("b", kBeginning), seconds(0));
  EXPECT_EQ(admissions.Find("a", kBeginning + seconds(10)), std::nullopt);
}

TEST(Admissions, AreThoseOfTheLastReview) {
  Admissions admissions;
  admissions.Remember("a", Admission::kPermitted, kBeginning);
  admissions.Remember("a", Admission::kForbidden, kBeginning + seconds(1));
  EXPECT_EQ(admissions.Find("a", kBeginning + seconds(2)), Admission::kForbidden);
  EXPECT_EQ(admissions.Find("a", kBeginning + seconds(20)), std::nullopt) << "the earlier admission counts no more";
  admissions.Remember("a", Admission::kPermitted, kBeginning + seconds(30));
  EXPECT_EQ(admissions.Find("a", kBeginning + seconds(31)), Admission::kPermitted);
  EXPECT_EQ(admissions.size(), 1U);
}

TEST(Admissions, KeepTheNewestOnesWhenThereAreManyTokens) {
  Admissions admissions;
  admissions.Remember("good", Admission::kPermitted, kBeginning);
  for (int i = 0; i < 10'000; ++i) {
    admissions.Remember(std::to_string(i), Admission::kUnauthenticated, kBeginning + std::chrono::microseconds(i));
  }
  EXPECT_EQ(admissions.size(), Admissions::kMostRefused + 1);
  EXPECT_EQ(admissions.Find("9999", kBeginning + seconds(1)), Admission::kUnauthenticated);
  EXPECT_EQ(admissions.Find("0", kBeginning + seconds(1)), std::nullopt);
  EXPECT_EQ(admissions.Find("good", kBeginning + seconds(1)), Admission::kPermitted)
      << "wrong tokens displace no good one";
}

TEST(Admissions, HaveAKeyThatDoesNotContainTheToken) {
  EXPECT_EQ(KeyOfToken("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace pintle::controller
