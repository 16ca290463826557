// SPDX-License-Identifier: Apache-2.0
#include "controller/lease_sightings.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

namespace pintle::controller {
namespace {

using std::chrono::seconds;

constexpr MonotonicTime kFirstSight = MonotonicTime(seconds(1000));

std::optional<api::Lease> LeaseBy(const std::string& holder, int renewals) {
  api::Lease lease;
  lease.spec.holder_identity = holder;
  lease.spec.renew_time = api::MicroTime{WallTime(seconds(renewals))};
  return lease;
}

TEST(LeaseSightings, CountTheTimeSinceTheLastChange) {
  LeaseSightings sightings;
  EXPECT_EQ(sightings.See(LeaseBy("a", 1), kFirstSight).unchanged_for, seconds(0));
  EXPECT_EQ(sightings.See(LeaseBy("a", 1), kFirstSight + seconds(5)).unchanged_for, seconds(5));
  EXPECT_EQ(sightings.See(LeaseBy("a", 2), kFirstSight + seconds(6)).unchanged_for, seconds(0));
  EXPECT_EQ(sightings.See(LeaseBy("a", 2), kFirstSight + seconds(8)).unchanged_for, seconds(2));
}

TEST(LeaseSightings, CountTheTimeOfAHolderAlsoIfItRenewsTheLease) {
  LeaseSightings sightings;
  sightings.See(LeaseBy("a", 1), kFirstSight);
  EXPECT_EQ(sightings.See(LeaseBy("a", 2), kFirstSight + seconds(5)).held_for, seconds(5));
  EXPECT_EQ(sightings.See(LeaseBy("b", 3), kFirstSight + seconds(6)).held_for, seconds(0));
  EXPECT_EQ(sightings.See(LeaseBy("b", 4), kFirstSight + seconds(8)).held_for, seconds(2));
  // The holder has lost the lease and acquired it again between two looks.
  auto again = LeaseBy("b", 9);
  again->spec.acquire_time = api::MicroTime{WallTime(seconds(9))};
  EXPECT_EQ(sightings.See(again, kFirstSight + seconds(9)).held_for, seconds(0));
}

TEST(LeaseSightings, KnowWhetherTheHolderHasWrittenTheLeaseMeanwhile) {
  LeaseSightings sightings;
  EXPECT_FALSE(sightings.See(LeaseBy("a", 1), kFirstSight).is_written);
  EXPECT_FALSE(sightings.See(LeaseBy("a", 1), kFirstSight + seconds(5)).is_written);
  EXPECT_TRUE(sightings.See(LeaseBy("a", 2), kFirstSight + seconds(6)).is_written);
  EXPECT_TRUE(sightings.See(LeaseBy("a", 2), kFirstSight + seconds(7)).is_written);
  EXPECT_TRUE(sightings.See(LeaseBy("b", 3), kFirstSight + seconds(8)).is_written);
}

TEST(LeaseSightings, KnowNothingOfALeaseThatIsMissing) {
  LeaseSightings sightings;
  sightings.See(LeaseBy("a", 1), kFirstSight);
  EXPECT_EQ(sightings.See(std::nullopt, kFirstSight + seconds(5)).unchanged_for, seconds(0));
  EXPECT_EQ(sightings.See(LeaseBy("a", 1), kFirstSight + seconds(9)).unchanged_for, seconds(0));
}

}  // namespace
}  // namespace pintle::controller
