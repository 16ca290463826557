// SPDX-License-Identifier: Apache-2.0
#include "dashboard/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/dashboard/sample.h"

namespace pintle::dashboard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Differences, AreInTargetsPausesAndActivities) {
  const ClusterState before = ContentsWith({Entry("a", Activity::kDone), Entry("b", Activity::kDone)}).cluster;
  ClusterState after =
      ContentsWith({Entry("a", Activity::kDone), Entry("b", Activity::kDegraded, "disk full")}).cluster;
  after.pools[0].target = "rendered-next";
  after.pools[0].is_paused = true;
  EXPECT_THAT(DifferencesOf(before, after),
              ElementsAre("pool worker: new target rendered-next", "pool worker: paused", "b: degraded, disk full"));
  EXPECT_THAT(DifferencesOf(after, before),
              ElementsAre("pool worker: new target rendered-new", "pool worker: no longer paused", "b: done"));
  EXPECT_THAT(DifferencesOf(before, before), IsEmpty());
}

TEST(Differences, AreInThePhasesAndWavesOfRollouts) {
  const ClusterState before = ContentsWith({}).cluster;
  ClusterState after = before;
  RolloutEntry& rollout = after.pools[0].rollout.emplace();
  rollout.phase = "Updating";
  rollout.message = "1 of 4 nodes";
  rollout.wave = 1;
  rollout.waves = {"canary", "all other nodes"};
  EXPECT_THAT(DifferencesOf(before, after), ElementsAre("pool worker: wave 1 of 2, the rollout updates nodes"));
  ClusterState later = after;
  later.pools[0].rollout->message = "2 of 4 nodes";
  EXPECT_THAT(DifferencesOf(after, later), IsEmpty());
  later.pools[0].rollout->phase = "Halted";
  EXPECT_THAT(DifferencesOf(after, later), ElementsAre("pool worker: wave 1 of 2, the rollout is halted"));
  later.pools[0].rollout.reset();
  EXPECT_THAT(DifferencesOf(after, later), IsEmpty());
}

TEST(Differences, AreInTheListsOfPoolsAndNodes) {
  const ClusterState before = ContentsWith({Entry("a", Activity::kDone), Entry("b", Activity::kDone)}).cluster;
  ClusterState after = ContentsWith({Entry("c", Activity::kDone)}).cluster;
  after.pools.push_back({.name = "infra", .target = "x", .is_paused = false, .conditions = {}, .nodes = {}});
  after.pools[1].nodes = {Entry("a", Activity::kDone)};
  EXPECT_THAT(DifferencesOf(before, after), ElementsAre("pool infra: new", "a: now in pool infra",
                                                        "c: new in pool worker", "b: in no pool any more"));
  EXPECT_THAT(DifferencesOf(after, ClusterState()), ElementsAre("pool infra: removed", "pool worker: removed",
                                                                "a: in no pool any more", "c: in no pool any more"));
}

TEST(Timeline, KeepsTheNewestEntries) {
  std::vector<Happening> timeline;
  for (int i = 0; i < 300; ++i) AddTo(timeline, kNow, {std::to_string(i)});
  EXPECT_EQ(timeline.size(), 200U);
  EXPECT_EQ(timeline.front().text, "100");
  EXPECT_EQ(timeline.back().text, "299");
}

}  // namespace
}  // namespace pintle::dashboard
