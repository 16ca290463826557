// SPDX-License-Identifier: Apache-2.0
#include "pool/rollout.h"

#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kPatchToNew =
    R"({"metadata":{"annotations":{"machineconfiguration.openshift.io/desiredConfig":"rendered-worker-new"}}})";

TEST(Rollout, UpdatesAsManyNodesAsMayBeUnavailable) {
  const Rollout rollout = Decide(PoolWith(kNew, {2}), {NodeAt("a", kOld), NodeAt("b", kOld), NodeAt("c", kOld)});
  EXPECT_THAT(Names(rollout.updates), ElementsAre("a", "b"));
  EXPECT_EQ(PatchText(rollout.updates[0].patch), kPatchToNew);
  EXPECT_EQ(rollout.candidates.capacity, 2);
  EXPECT_THAT(rollout.candidates.nodes, ElementsAre(0, 1, 2));
}

TEST(Rollout, CountsNodesThatAreBusyOrNotReady) {
  const Rollout rollout =
      Decide(PoolWith(kNew, {3}), {NodeBetween("a", kOld, kNew, api::kStateWorking), NotReady(NodeAt("b", kNew)),
                                   NodeAt("c", kOld), NodeAt("d", kOld)});
  EXPECT_THAT(rollout.unavailable, ElementsAre("a", "b"));
  EXPECT_THAT(Names(rollout.updates), ElementsAre("c"));
}

TEST(Rollout, UpdatesNoNodeWithoutCapacity) {
  const Rollout rollout = Decide(PoolWith(kNew), {NodeBetween("a", kOld, kNew, api::kStateWorking), NodeAt("b", kOld)});
  EXPECT_THAT(rollout.updates, IsEmpty());
  EXPECT_THAT(rollout.candidates.nodes, IsEmpty());
  EXPECT_EQ(rollout.candidates.capacity, 0);
}

TEST(Rollout, CountsNodesThatFailAtTheTargetAsUnavailable) {
  const std::vector<api::Node> nodes = {NodeBetween("a", kOld, kNew, api::kStateDegraded), NodeAt("b", kOld),
                                        NodeAt("c", kOld)};
  EXPECT_THAT(Names(Decide(PoolWith(kNew, {2}), nodes).updates), ElementsAre("b"));
  EXPECT_THAT(Names(Decide(PoolWith(kNew, {1}), nodes).updates), IsEmpty());
}

TEST(Rollout, WithdrawsAConfigFromNodesThatFailAtIt) {
  const Rollout rollout =
      Decide(PoolWith(kOld), {NodeAt("a", kOld), NodeBetween("b", kOld, kNew, api::kStateDegraded)});
  EXPECT_THAT(Names(rollout.updates), ElementsAre("b"));
}

TEST(Rollout, GoesZoneByZoneOldestFirstAndUnlabelledLast) {
  const Rollout rollout =
      Decide(PoolWith(kNew, {4}),
             {CreatedAt(NodeAt("x", kOld), 1), InZone(CreatedAt(NodeAt("c", kOld), 1), "z2"),
              InZone(CreatedAt(NodeAt("b", kOld), 3), "z1"), InZone(CreatedAt(NodeAt("a", kOld), 2), "z1"),
              InZone(CreatedAt(NodeAt("d", kOld), 9), "")});
  EXPECT_THAT(Names(rollout.updates), ElementsAre("d", "a", "b", "c"));
}

TEST(Rollout, KeepsTheOrderOfTheListIfAllNodesCanBeUpdated) {
  const Rollout rollout =
      Decide(PoolWith(kNew, {2}), {InZone(NodeAt("b", kOld), "z2"), InZone(NodeAt("a", kOld), "z1")});
  EXPECT_THAT(Names(rollout.updates), ElementsAre("b", "a"));
}

TEST(Rollout, KeepsTheOrderOfTheListAmongEqualNodes) {
  std::vector<api::Node> nodes;
  for (int i = 0; i < 40; ++i) nodes.push_back(CreatedAt(NodeAt(std::to_string(i), kOld), i % 2));
  const Rollout rollout = Decide(PoolWith(kNew, {3}), nodes);
  EXPECT_THAT(Names(rollout.updates), ElementsAre("0", "2", "4"));
}

TEST(Rollout, IsHeldWhilePausedOrUnrenderedOrDeletedOrSelectingAll) {
  const std::vector<api::Node> nodes = {NodeAt("a", kOld), NotReady(NodeAt("b", kOld))};
  api::MachineConfigPool paused = PoolWith(kNew, {2});
  paused.spec.paused = true;
  api::MachineConfigPool deleted = PoolWith(kNew, {2});
  deleted.metadata.deletion_timestamp = api::Time{};
  api::MachineConfigPool all = PoolWith(kNew, {2});
  all.spec.node_selector.emplace() = {};
  for (const auto& pool : {paused, deleted, all, PoolWith("", {2})}) {
    const Rollout rollout = Decide(pool, nodes);
    EXPECT_NE(rollout.hold_reason, "");
    EXPECT_THAT(rollout.updates, IsEmpty());
    EXPECT_THAT(rollout.updates_of_unavailable, IsEmpty());
    EXPECT_EQ(rollout.status.machine_count, 2);
  }
}

TEST(Rollout, ReportsAnInvalidMaxUnavailableAndUpdatesNoNode) {
  const Rollout rollout = Decide(PoolWith(kNew, {"many"}), {NodeAt("a", kOld)});
  EXPECT_EQ(rollout.max_unavailable_error,
            "maxUnavailable: invalid value for IntOrString: invalid type: string is not a percentage");
  EXPECT_THAT(rollout.updates, IsEmpty());
  EXPECT_THAT(rollout.updates_of_unavailable, IsEmpty());
}

TEST(Rollout, UpdatesTheOperatorsMasterLast) {
  api::MachineConfigPool pool = PoolWith(kNew);
  pool.metadata.name = "master";
  const std::vector<api::Node> both = {NodeAt("m0", kOld), NodeAt("m1", kOld)};
  const auto states = States(both);
  Situation situation = SituationOf(pool, states);
  situation.operator_node = "m0";
  EXPECT_THAT(Names(Decide(situation).updates), ElementsAre("m1"));
  const std::vector<api::Node> alone = {NodeAt("m0", kOld), NodeAt("m1", kNew)};
  const auto last = States(alone);
  situation.nodes = last;
  EXPECT_THAT(Names(Decide(situation).updates), ElementsAre("m0"));
}

TEST(Rollout, GivesANodeTheLabelsOfTheCustomPoolWithWhoseConfigItFirstBooted) {
  const api::MachineConfigPool pool = PoolWith(kNew);
  api::MachineConfigPool infra = PoolWith("rendered-infra-new");
  infra.metadata.name = "infra";
  auto& selector = infra.spec.node_selector.emplace();
  selector.match_labels.emplace("role", "infra");
  selector.match_expressions = {{.key = "one", .op = "In", .values = {"1"}},
                                {.key = "some", .op = "In", .values = {"1", "2"}},
                                {.key = "any", .op = "Exists", .values = {}},
                                {.key = "role", .op = "Exists", .values = {}}};
  const std::vector<const api::MachineConfigPool*> pools = {&infra};
  const std::vector<api::Node> nodes = {
      Annotated(NodeAt("a", kOld), api::kFirstPivotConfigAnnotation, "rendered-infra-old"), NodeAt("b", kOld)};
  const auto states = States(nodes);
  const KnownConfigs configs = {{"rendered-infra-old", {.owner = "infra", .os_image_url = ""}}};
  Situation situation = SituationOf(pool, states, configs);
  situation.all_pools = pools;

  const Rollout rollout = Decide(situation);

  EXPECT_THAT(Names(rollout.updates), ElementsAre("a", "b"));
  EXPECT_EQ(PatchText(rollout.updates[0].patch),
            R"({"metadata":{"annotations":{"machineconfiguration.openshift.io/customPoolLabelsApplied":""},)"
            R"("labels":{"any":"","one":"1","role":"infra"}}})");
}

TEST(UpdatesOfUnavailable, NeedNoCapacity) {
  const Rollout rollout =
      Decide(PoolWith("rendered-worker-newer"), {NotReady(NodeBetween("a", kOld, kNew, api::kStateRebooting)),
                                                 NodeBetween("b", kOld, kNew, api::kStateWorking), NodeAt("c", kOld)});
  EXPECT_THAT(rollout.updates, IsEmpty());
  EXPECT_THAT(Names(rollout.updates_of_unavailable), ElementsAre("a", "b"));
  EXPECT_EQ(
      PatchText(rollout.updates_of_unavailable[0].patch),
      R"({"metadata":{"annotations":{"machineconfiguration.openshift.io/desiredConfig":"rendered-worker-newer"}}})");
}

TEST(UpdatesOfUnavailable, LeaveOutNodesThatWereGivenTheTarget) {
  const Rollout rollout =
      Decide(PoolWith(kNew), {NotReady(NodeBetween("a", kOld, kNew, api::kStateWorking)), NotReady(NodeAt("b", kNew))});
  EXPECT_THAT(rollout.updates_of_unavailable, IsEmpty());
}

TEST(UpdatesOfUnavailable, LeaveOutNodesThatAreUpdatedAnyway) {
  const Rollout rollout = Decide(PoolWith(kNew, {2}), {NodeBetween("a", kOld, kOld, api::kStateWorking)});
  EXPECT_THAT(Names(rollout.updates), ElementsAre("a"));
  EXPECT_THAT(rollout.updates_of_unavailable, IsEmpty());
}

TEST(UpdatesOfUnavailable, LeaveOutNodesThatSomebodyCordoned) {
  const Rollout rollout = Decide(PoolWith(kNew), {Cordoned(NodeAt("a", kOld)), Cordoned(NotReady(NodeAt("b", kOld))),
                                                  Cordoned(NodeBetween("c", kOld, "bad", api::kStateWorking))});
  EXPECT_THAT(Names(rollout.updates_of_unavailable), ElementsAre("b", "c"));
}

TEST(Arbiters, WaitForTheMasters) {
  api::MachineConfigPool pool = PoolWith(kNew);
  pool.metadata.name = "arbiter";
  const std::vector<api::Node> nodes = {NodeAt("a", kOld)};
  const auto states = States(nodes);
  Situation situation = SituationOf(pool, states);
  situation.masters = Masters{.paused = false, .unavailable = 1, .candidates = 2};
  EXPECT_EQ(Decide(situation).hold_reason, "deferring arbiter updates until 3 master node(s) complete their updates");
  situation.masters = Masters{.paused = true, .unavailable = 1, .candidates = 2};
  EXPECT_EQ(
      Decide(situation).hold_reason,
      "master pool is paused with 1 unavailable master node(s); deferring arbiter updates to preserve etcd quorum");
  situation.masters = Masters{.paused = true, .unavailable = 0, .candidates = 2};
  EXPECT_THAT(Names(Decide(situation).updates), ElementsAre("a"));
}

TEST(Masters, WaitForTheArbiter) {
  const api::MachineConfigPool pool = PoolWith(kNew);
  const std::vector<api::Node> nodes = {NodeAt("a", kOld)};
  const auto states = States(nodes);
  Situation situation = SituationOf(pool, states);
  situation.unavailable_arbiters = 1;
  const Rollout rollout = Decide(situation);
  EXPECT_EQ(rollout.max_unavailable, 0);
  EXPECT_THAT(rollout.updates, IsEmpty());
}

}  // namespace
}  // namespace pintle::pool
