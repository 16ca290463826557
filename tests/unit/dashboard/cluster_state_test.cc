// SPDX-License-Identifier: Apache-2.0
#include "dashboard/cluster_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/pool/sample.h"

namespace pintle::dashboard {
namespace {

using pool::kNew;
using pool::kOld;
using testing::ElementsAre;
using testing::Field;

ClusterState StateWith(const api::MachineConfigPool& machine_config_pool, const std::vector<api::Node>& nodes,
                       const std::vector<const api::MachineConfigNode*>& machine_config_nodes = {}) {
  const std::vector<pool::NodeState> states = pool::States(nodes);
  const PoolAndNodes pools[] = {{&machine_config_pool, states}};
  return StateOf(pools, machine_config_nodes, nullptr);
}

api::Condition ConditionOf(std::string type, std::string status, std::string message) {
  return {.type = std::move(type),
          .status = std::move(status),
          .last_transition_time = {},
          .reason = "",
          .message = std::move(message)};
}

NodeEntry EntryOf(const api::Node& node) { return StateWith(pool::PoolWith(kNew), {node}).pools.at(0).nodes.at(0); }

TEST(ClusterState, HasAnActivityForEachStateOfANode) {
  const struct {
    api::Node node;
    Activity activity;
  } kCases[] = {
      {pool::NodeAt("a", kNew), Activity::kDone},
      {pool::NodeAt("a", kOld), Activity::kWaiting},
      {pool::NodeBetween("a", kOld, kNew, api::kStateDone), Activity::kUpdating},
      {pool::NodeBetween("a", kOld, kNew, api::kStateWorking), Activity::kUpdating},
      {pool::Annotated(pool::NodeBetween("a", kOld, kNew, api::kStateWorking), api::kDesiredDrainAnnotation,
                       "drain-" + kNew),
       Activity::kDraining},
      {pool::NodeBetween("a", kOld, kNew, api::kStateRebooting), Activity::kRebooting},
      {pool::NotReady(pool::NodeAt("a", kNew)), Activity::kNotReady},
      {pool::NotReady(pool::NodeBetween("a", kOld, kNew, api::kStateRebooting)), Activity::kRebooting},
      {pool::NodeBetween("a", kOld, kNew, api::kStateDegraded), Activity::kDegraded},
      {pool::NodeBetween("a", kOld, kNew, api::kStateUnreconcilable), Activity::kDegraded},
      {pool::NodeBetween("a", kNew, kNew, api::kStateDegraded), Activity::kDegraded},
  };
  for (const auto& row : kCases) {
    EXPECT_EQ(WordFor(EntryOf(row.node).activity), WordFor(row.activity)) << json::ToText(json::Encode(row.node));
  }
}

TEST(ClusterState, ExplainsWhyANodeNeedsAttention) {
  const api::Node degraded = pool::Annotated(pool::NodeBetween("a", kOld, kNew, api::kStateDegraded),
                                             api::kReasonAnnotation, "no space left on device");
  EXPECT_EQ(EntryOf(degraded).explanation, "no space left on device");
  EXPECT_EQ(EntryOf(pool::NotReady(pool::NodeAt("a", kNew))).explanation, "node a is reporting NotReady=False");
  EXPECT_EQ(EntryOf(pool::NodeAt("a", kNew)).explanation, "");
}

TEST(ClusterState, ReportsWhatADrainWaitsFor) {
  api::Node node = pool::Annotated(pool::NodeBetween("a", kOld, kNew, api::kStateWorking), api::kDesiredDrainAnnotation,
                                   "drain-" + kNew);
  node = pool::Annotated(node, "pintle.io/drain-started", "2026-11-21T20:00:00Z drain-" + kNew);
  api::MachineConfigNode progress;
  progress.metadata.name = "a";
  progress.status.conditions = {ConditionOf("Cordoned", "True", "cordoned"),
                                ConditionOf("Drained", "Unknown", "waits for pod x/y")};
  const NodeEntry entry = StateWith(pool::PoolWith(kNew), {node}, {&progress}).pools.at(0).nodes.at(0);
  EXPECT_EQ(entry.explanation, "waits for pod x/y");
  ASSERT_TRUE(entry.drain_began);
  EXPECT_EQ(ToRfc3339(*entry.drain_began), "2026-11-21T20:00:00Z");
}

TEST(ClusterState, HasTheConditionsThatAPersonShouldKnowOf) {
  api::MachineConfigPool updated_pool = pool::PoolWith(kNew);
  updated_pool.status.conditions = {ConditionOf("Updated", "True", ""),
                                    ConditionOf("PausedPending", "True", "2 nodes wait"),
                                    ConditionOf("RenderDegraded", "False", "none")};
  EXPECT_THAT(StateWith(updated_pool, {}).pools.at(0).conditions,
              ElementsAre(PoolCondition{"PausedPending", "2 nodes wait"}));
}

TEST(ClusterState, HasTheRolloutByThePolicyOfAPool) {
  const api::MachineConfigPool pool = pool::PoolWith(kNew);
  api::RolloutPolicy policy;
  policy.metadata.name = "workers";
  policy.spec.waves.resize(2);
  policy.spec.waves[0].name = "canary";
  const auto rollout = [&] {
    const PoolAndNodes pools[] = {{&pool, {}, &policy}};
    return StateOf(pools, {}, nullptr).pools.at(0).rollout.value();
  };
  EXPECT_EQ(WordsFor(rollout()), "has no report from the controller yet");
  api::RolloutPoolStatus& status = policy.status.pools.emplace_back();
  status.name = "worker";
  status.phase = "AwaitingApproval";
  status.message = "wave 2 waits";
  status.since = api::Time{WallTime(std::chrono::seconds(1))};
  status.wave = 2;
  status.waves = 3;
  status.nodes = 40;
  status.updated = 11;
  EXPECT_EQ(rollout().policy, "workers");
  EXPECT_EQ(rollout().message, "wave 2 waits");
  EXPECT_EQ(rollout().since, status.since->at);
  EXPECT_EQ(rollout().wave, 2);
  EXPECT_THAT(rollout().waves, ElementsAre("canary", "wave 2", "all other nodes"));
  EXPECT_EQ(rollout().nodes, 40);
  EXPECT_EQ(rollout().updated, 11);
  EXPECT_EQ(WordsFor(rollout()), "waits for an approval");
  EXPECT_TRUE(rollout().needs_person());
  status.phase = "Updating";
  EXPECT_FALSE(rollout().needs_person());
  policy.status.conditions = {ConditionOf("Accepted", "False", "spec.approve: what?")};
  EXPECT_EQ(rollout().mistakes, "spec.approve: what?");
  EXPECT_TRUE(rollout().needs_person());
  // Nobody can write such a status but the controller, or an administrator who tries things.
  status.waves = 2'000'000'000;
  EXPECT_EQ(rollout().waves.size(), 33U);
  status.phase = "Dancing";
  policy.status.conditions.clear();
  EXPECT_EQ(WordsFor(rollout()), "does something that this version does not know");
  EXPECT_FALSE(StateWith(pool, {}).pools.at(0).rollout);
}

TEST(ClusterState, SortsNodesByNameAndCertificatesByTheirEnd) {
  const ClusterState state = StateWith(pool::PoolWith(kNew), {pool::NodeAt("b", kNew), pool::NodeAt("a", kOld)});
  EXPECT_THAT(state.pools.at(0).nodes, ElementsAre(Field(&NodeEntry::name, "a"), Field(&NodeEntry::name, "b")));
  EXPECT_EQ(state.CountOf(Activity::kDone), 1U);
  EXPECT_EQ(state.node_count(), 2U);

  api::ControllerConfig config;
  const api::Time early = {WallTime(std::chrono::seconds(1))};
  const api::Time late = {WallTime(std::chrono::seconds(2))};
  config.status.controller_certificates = {{.subject = "late", .bundle_file = "a", .not_after = late},
                                           {.subject = "endless", .bundle_file = "a", .not_after = std::nullopt},
                                           {.subject = "early", .bundle_file = "b", .not_after = early}};
  EXPECT_THAT(StateOf({}, {}, &config).certificates,
              ElementsAre(Certificate{"early", "b", early.at}, Certificate{"late", "a", late.at}));
}

}  // namespace
}  // namespace pintle::dashboard
