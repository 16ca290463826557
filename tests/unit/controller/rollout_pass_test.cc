// SPDX-License-Identifier: Apache-2.0
#include "controller/rollout_pass.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/waiting_files.h"
#include "controller/files_wait.h"
#include "support/expect.h"
#include "support/world.h"

namespace pintle::controller {
namespace {

const std::string kOld = "rendered-worker-old";
const std::string kNew = "rendered-worker-new";

World ThreeWorkers() {
  World world;
  world.AddPool("worker", kOld);
  for (const char* name : {"a", "b", "c"}) world.AddNode(name, "worker", kOld);
  world.Settle();
  return world;
}

std::vector<std::string> UpdatedIn(const Changes& changes) {
  std::vector<std::string> names;
  for (const NodeChange& change : changes.nodes) {
    if (!change.target_text.empty()) names.push_back(change.node);
  }
  return names;
}

TEST(RolloutPass, WritesNothingWithoutAChange) {
  World world = ThreeWorkers();
  EXPECT_TRUE(world.Pass().is_empty());
  EXPECT_EQ(world.ConditionOf("worker", "Updated")->status, "True");
}

TEST(RolloutPass, UpdatesOneNodeAndWritesTheNewStatus) {
  World world = ThreeWorkers();
  world.pools["worker"].spec.configuration.name = kNew;
  const Changes changes = world.Pass();
  EXPECT_EQ(UpdatedIn(changes), std::vector<std::string>{"a"});
  ASSERT_EQ(changes.statuses.size(), 1U);
  EXPECT_EQ(changes.statuses[0].status.unavailable_machine_count, 1);
  world.Apply(changes);
  EXPECT_TRUE(world.Pass().is_empty());
}

TEST(RolloutPass, MakesOnePatchForEachNode) {
  World world = ThreeWorkers();
  world.pools["worker"].spec.configuration.name = kNew;
  world.controller_config.spec.infra.status.control_plane_topology = "HighlyAvailable";
  const Changes changes = world.Pass();
  EXPECT_EQ(changes.nodes.size(), 3U);
  EXPECT_EQ(changes.nodes[0].patch.metadata.annotations.size(), 2U);
  // The node that gets its config now needs no taint; the others have an update ahead.
  EXPECT_FALSE(changes.nodes[0].patch.spec);
  ASSERT_TRUE(changes.nodes[1].patch.spec);
  EXPECT_EQ(changes.nodes[1].patch.spec->taints[0].key, api::kUpdateInProgressTaint);
}

TEST(RolloutPass, LeavesAPoolAloneDuringRendering) {
  World world = ThreeWorkers();
  world.pools["worker"].spec.configuration.name = kNew;
  world.skipped.insert("worker");
  EXPECT_TRUE(world.Pass().is_empty());
}

TEST(RolloutPass, UpdatesNoNodeOfAPausedPoolAndChangesNoTaint) {
  World world = ThreeWorkers();
  world.pools["worker"].spec.configuration.name = kNew;
  world.pools["worker"].spec.paused = true;
  const Changes changes = world.Pass();
  EXPECT_THAT(UpdatedIn(changes), testing::IsEmpty());
  for (const NodeChange& change : changes.nodes) EXPECT_FALSE(change.patch.spec);
  EXPECT_EQ(changes.statuses.size(), 1U);
}

TEST(RolloutPass, UpdatesOtherNodesWhileOneNodeIsAwaited) {
  World world = ThreeWorkers();
  world.pools["worker"].spec.configuration.name = kNew;
  world.pools["worker"].spec.max_unavailable = api::IntOrString{2};
  world.awaited = {"a"};
  const Changes changes = world.Pass();
  EXPECT_EQ(UpdatedIn(changes), std::vector<std::string>{"b"});
  ASSERT_EQ(changes.statuses.size(), 1U);
  EXPECT_EQ(changes.statuses[0].status.unavailable_machine_count, 1)
      << "the awaited node still counts as being updated";
  world.Apply(changes);
  EXPECT_TRUE(world.Pass().is_empty()) << "no other node is updated instead";
  world.awaited.clear();
  EXPECT_EQ(UpdatedIn(world.Pass()), std::vector<std::string>{"a"});
}

TEST(RolloutPass, WritesTheStatusWhileAllNodesAreAwaited) {
  World world = ThreeWorkers();
  world.pools["worker"].spec.configuration.name = kNew;
  world.awaited = {"a"};
  const Changes changes = world.Pass();
  EXPECT_THAT(UpdatedIn(changes), testing::IsEmpty());
  ASSERT_EQ(changes.statuses.size(), 1U);
  EXPECT_EQ(changes.statuses[0].status.unavailable_machine_count, 0);
}

TEST(RolloutPass, PutsNodesThatCannotBeDrainedBehindOtherNodes) {
  World world = ThreeWorkers();
  world.pools["worker"].spec.configuration.name = kNew;
  world.undrainable = {"a", "b"};
  EXPECT_EQ(UpdatedIn(world.Pass()), std::vector<std::string>{"c"});
  world.undrainable = {"a", "b", "c"};
  EXPECT_EQ(UpdatedIn(world.Pass()), std::vector<std::string>{"a"});
}

TEST(RolloutPass, ReportsWhyTheFirstRenderingFails) {
  World world;
  world.AddPool("worker", "");
  EXPECT_TRUE(world.Pass().is_empty());
  world.verdicts["worker"] = {.reason = "", .message = "it is no good"};
  EXPECT_EQ(world.Settle(), 1);
  EXPECT_EQ(world.ConditionOf("worker", "RenderDegraded")->message, "it is no good");
  EXPECT_EQ(world.ConditionOf("worker", "Degraded")->status, "True");
  world.verdicts["worker"] = {};
  EXPECT_EQ(world.Settle(), 1);
  EXPECT_EQ(world.ConditionOf("worker", "RenderDegraded")->status, "False");
  EXPECT_EQ(world.ConditionOf("worker", "Degraded")->status, "False");
}

TEST(RolloutPass, KeepsTheTimeOfAConditionWithAnUnchangedStatus) {
  World world = ThreeWorkers();
  world.verdicts["worker"] = {.reason = "", .message = "one"};
  world.Settle();
  const auto since = world.ConditionOf("worker", "RenderDegraded")->last_transition_time;
  world.version += 100;
  world.verdicts["worker"] = {.reason = "", .message = "two"};
  EXPECT_EQ(world.Settle(), 1);
  EXPECT_EQ(world.ConditionOf("worker", "RenderDegraded")->message, "two");
  EXPECT_EQ(world.ConditionOf("worker", "RenderDegraded")->last_transition_time, since);
}

TEST(RolloutPass, ReportsOnBothPoolsThatANodeIsInTwo) {
  World world = ThreeWorkers();
  for (const char* name : {"infra", "gpu"}) {
    world.AddPool(name, "rendered-x");
    world.nodes["c"].metadata.labels.emplace(std::string(api::kRoleLabelPrefix) + name, "");
  }
  const Changes changes = world.Pass();
  EXPECT_EQ(std::count_if(changes.announcements.begin(), changes.announcements.end(),
                          [](const Announcement& event) { return event.reason == "NodesInSeveralPools"; }),
            2);
  EXPECT_EQ(world.Settle(), 1);
  for (const char* name : {"infra", "gpu"}) {
    EXPECT_EQ(world.ConditionOf(name, "Misconfigured")->message,
              "node c belongs to 2 custom roles, cannot proceed with this Node");
  }
  EXPECT_EQ(world.pools["worker"].status.machine_count, 2);
  world.pools.erase("gpu");
  world.Settle();
  EXPECT_EQ(world.ConditionOf("infra", "Misconfigured"), nullptr);
  EXPECT_EQ(world.pools["infra"].status.machine_count, 1);
}

TEST(RolloutPass, NamesFiveNodesInTwoPoolsAndCountsTheOthers) {
  World world;
  for (const char* name : {"infra", "gpu"}) world.AddPool(name, "rendered-x");
  for (int i = 0; i < 200; ++i) {
    const std::string node = fmt::format("n-{:03}", i);
    world.AddNode(node, "infra", kOld);
    world.nodes[node].metadata.labels.emplace(std::string(api::kRoleLabelPrefix) + "gpu", "");
  }
  world.Settle();
  const std::string& message = world.ConditionOf("gpu", "Misconfigured")->message;
  EXPECT_THAT(message, testing::StartsWith("node n-000 belongs to 2 custom roles, cannot proceed with this Node; "));
  EXPECT_THAT(message, testing::EndsWith("node n-004 belongs to 2 custom roles, cannot proceed with this Node; and 195 "
                                         "more in several custom roles"));
}

TEST(RolloutPass, AnnouncesOnceThatAPoolSelectsAllConfigs) {
  World world = ThreeWorkers();
  world.verdicts["worker"] = {.reason = kSelectingAll,
                              .message = "Failed to render configuration for pool worker: ..."};
  const Changes changes = world.Pass();
  ASSERT_EQ(changes.announcements.size(), 1U);
  EXPECT_EQ(changes.announcements[0].reason, "SelectingAll");
  EXPECT_EQ(changes.announcements[0].message,
            "This machineconfigpool is selecting all machineconfigs. A non-empty selector is required.");
  world.Apply(changes);
  EXPECT_EQ(world.ConditionOf("worker", "RenderDegraded")->reason, "SelectingAll");
  world.pools["worker"].spec.max_unavailable = {std::string("a few")};
  for (const Announcement& later : world.Pass().announcements) EXPECT_NE(later.reason, "SelectingAll");
}

TEST(RolloutPass, FindsTheNodesInNoPool) {
  World world = ThreeWorkers();
  world.AddNode("stray", "gpu", kOld);
  world.AddNode("with-windows", "gpu", kOld).metadata.labels.emplace("kubernetes.io/os", "windows");
  const View view = world.Look();
  const PoolMembers members = MakePoolMembers(view);
  ASSERT_EQ(members.in_no_pool.size(), 1U);
  EXPECT_EQ(members.in_no_pool[0]->metadata.name, "stray");
}

TEST(RolloutPass, RollsOutOtherPoolsBesideOneWithABadSelector) {
  World world = ThreeWorkers();
  world.AddPool("odd", "rendered-x").spec.node_selector->match_labels = {{"not a key!", ""}};
  world.AddPool("all", "rendered-x").spec.node_selector->match_labels.clear();
  world.pools["worker"].spec.configuration.name = kNew;
  EXPECT_EQ(UpdatedIn(world.Pass()), std::vector<std::string>{"a"});
  world.Settle();
  EXPECT_EQ(world.ConditionOf("odd", "Misconfigured")->reason, "InvalidNodeSelector");
  EXPECT_EQ(world.ConditionOf("all", "Misconfigured")->reason, "SelectingAll");
}

TEST(RolloutPass, ReportsAnInvalidMaxUnavailableAndWritesThatOnce) {
  World world = ThreeWorkers();
  world.pools["worker"].spec.max_unavailable = {std::string("a few")};
  world.pools["worker"].spec.configuration.name = kNew;
  EXPECT_EQ(world.Settle(), 1);
  EXPECT_EQ(world.ConditionOf("worker", "Misconfigured")->reason, "InvalidMaxUnavailable");
  EXPECT_EQ(world.AnnotationOf("a", api::kDesiredConfigAnnotation), kOld);
}

TEST(RolloutPass, ReportsInvalidDrainSettingsAndStillRollsOut) {
  World world = ThreeWorkers();
  world.pools["worker"].metadata.annotations = {{"pintle.io/drain-timeout", "soon"}, {"pintle.io/drain-pause", "0"}};
  world.pools["worker"].spec.configuration.name = kNew;
  EXPECT_EQ(UpdatedIn(world.Pass()), std::vector<std::string>{"a"});
  world.Settle();
  const api::Condition* condition = world.ConditionOf("worker", "Misconfigured");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->reason, "InvalidDrainSettings");
  EXPECT_THAT(
      condition->message,
      testing::StartsWith("the defaults are used instead of these settings: annotation pintle.io/drain-timeout"));
  EXPECT_THAT(condition->message, testing::HasSubstr("; annotation pintle.io/drain-pause=0 of pool worker: must be"));
  world.pools["worker"].metadata.annotations.clear();
  world.Settle();
  EXPECT_EQ(world.ConditionOf("worker", "Misconfigured"), nullptr);
}

TEST(RolloutPass, ReportsTheExpiryOfNodesCertificatesInThePools) {
  World world = ThreeWorkers();
  const api::Time end = {WallTime(std::chrono::hours(1))};
  world.controller_config.status.controller_certificates = {
      {.subject = "CN=a", .bundle_file = "KubeAPIServerServingCAData", .not_after = end},
      {.subject = "CN=b", .bundle_file = "RootCAData", .not_after = end}};
  world.Settle();
  const auto& expirys = world.pools["worker"].status.cert_expirys;
  ASSERT_EQ(expirys.size(), 1U);
  EXPECT_EQ(expirys[0].subject, "CN=a");
}

TEST(RolloutPass, CopiesTheDesiredConfigToTheMachineConfigNode) {
  World world = ThreeWorkers();
  api::MachineConfigNode& report = world.reports["a"];
  report.metadata.name = "a";
  report.spec.node.name = "a";
  report.spec.pool.name = "not-yet-set";
  report.spec.config_version.desired = "not-yet-set";
  world.pools["worker"].spec.configuration.name = kNew;
  world.Apply(world.Pass());
  EXPECT_EQ(world.reports["a"].spec.pool.name, "worker");
  EXPECT_EQ(world.reports["a"].spec.config_version.desired, kNew);
}

TEST(RolloutPass, LabelsMastersOnlyIfTheirSchedulingIsKnown) {
  World world;
  world.AddPool("master", kOld);
  world.AddNode("m", "master", kOld);
  world.Settle();
  EXPECT_FALSE(world.nodes["m"].metadata.labels.contains(std::string(api::kControlPlaneRoleLabel)));
  world.scheduling = pool::MasterScheduling::kControlPlaneOnly;
  EXPECT_EQ(world.Settle(), 1);
  EXPECT_TRUE(world.nodes["m"].metadata.labels.contains(std::string(api::kControlPlaneRoleLabel)));
  EXPECT_EQ(world.nodes["m"].spec.taints[0].effect, "NoSchedule");
}

// A second patch of the same node would meet a conflict, because it names the version before the first one.
TEST(RolloutPass, MakesOnePatchForAMasterInAnotherPoolIfTheMastersHaveNoPool) {
  World world = ThreeWorkers();
  world.nodes["a"].metadata.labels.emplace(api::kMasterRoleLabel, "");
  world.AddNode("m", "master", kOld);
  world.scheduling = pool::MasterScheduling::kControlPlaneOnly;
  std::vector<std::string> patched;
  for (const NodeChange& change : world.Pass().nodes) patched.push_back(change.node);
  EXPECT_THAT(patched, testing::UnorderedElementsAre("a", "m"));
  world.Settle();
  for (const char* name : {"a", "m"}) {
    EXPECT_TRUE(world.nodes[name].metadata.labels.contains(std::string(api::kControlPlaneRoleLabel))) << name;
  }
}

TEST(RolloutPass, UpdatesNoNodeOfAnUnreadablePool) {
  World world = ThreeWorkers();
  world.Settle();
  world.AddPool("infra", kOld);
  world.nodes["c"].metadata.labels.emplace(std::string(api::kRoleLabelPrefix) + "infra", "");
  world.held_pools["infra"] = "infra: $.spec.maxUnavailable: is too large";
  for (const char* pool : {"worker", "infra"}) world.pools[pool].spec.configuration.name = kNew;
  const Changes changes = world.Pass();
  EXPECT_EQ(UpdatedIn(changes).size(), 1U);
  EXPECT_THAT(UpdatedIn(changes), testing::Not(testing::Contains("c")));
  world.Apply(changes);
  EXPECT_EQ(world.ConditionOf("infra", "Misconfigured")->reason, "Unreadable");
  EXPECT_EQ(world.ConditionOf("infra", "Misconfigured")->message,
            "no node is updated until this is corrected: infra: $.spec.maxUnavailable: is too large");
  EXPECT_EQ(world.pools["infra"].status.machine_count, 1);
}

TEST(RolloutPass, ReportsThatNodesCannotBeReadAndChangesNothingElse) {
  World world = ThreeWorkers();
  world.Settle();
  const auto before = world.pools["worker"].status;
  world.pools["worker"].spec.configuration.name = kNew;
  world.why_unread = "listing nodes: nodes is forbidden";
  EXPECT_EQ(UpdatedIn(world.Pass()), std::vector<std::string>{});
  EXPECT_EQ(world.Settle(), 1);
  EXPECT_EQ(world.ConditionOf("worker", "Degraded")->message, "listing nodes: nodes is forbidden");
  EXPECT_EQ(world.pools["worker"].status.machine_count, before.machine_count);
  EXPECT_EQ(world.ConditionOf("worker", "Updated")->status, "True");
  world.why_unread.clear();
  EXPECT_EQ(UpdatedIn(world.Pass()).size(), 1U);
}

TEST(RolloutPass, UpdatesTheOperatorsNodeLastAndLogsThat) {
  World world;
  world.AddPool("master", kOld);
  for (const char* name : {"m0", "m1"}) world.AddNode(name, "master", kOld);
  world.operator_node = "m0";
  world.Settle();
  world.pools["master"].spec.configuration.name = kNew;
  const Changes changes = world.Pass();
  EXPECT_EQ(UpdatedIn(changes), std::vector<std::string>{"m1"});
  ASSERT_EQ(changes.announcements.size(), 1U);
  EXPECT_EQ(changes.announcements[0].message, "Deferring update of machine config operator node m0");
}

TEST(RolloutPass, UpdatesAnArbiterIfNoMasterIsBusy) {
  World world;
  world.controller_config.spec.infra.status.control_plane_topology = "HighlyAvailableArbiter";
  for (const char* role : {"master", "arbiter"}) {
    world.AddPool(role, kOld);
    world.AddNode(role, role, kOld);
  }
  world.Settle();
  for (const char* role : {"master", "arbiter"}) world.pools[role].spec.configuration.name = kNew;
  EXPECT_EQ(UpdatedIn(world.Pass()), std::vector<std::string>{"master"});
  world.Settle();
  EXPECT_EQ(world.AnnotationOf("arbiter", api::kDesiredConfigAnnotation), kOld);
  world.Annotate("master", api::kCurrentConfigAnnotation, kNew);
  EXPECT_EQ(UpdatedIn(world.Pass()), std::vector<std::string>{"arbiter"});
}

// ---- files of the ControllerConfig ----

std::vector<std::string> WaitAnnotations(const World& world) {
  std::vector<std::string> annotations;
  for (const auto& [name, node] : world.nodes)
    annotations.push_back(node.metadata.Annotation(api::kFilesWaitAnnotation));
  return annotations;
}

TEST(RolloutPass, AsksEachNodeOfAPausedPoolToHoldBackFiles) {
  World world = ThreeWorkers();
  EXPECT_THAT(WaitAnnotations(world), testing::Each(""));
  world.pools.at("worker").spec.paused = true;
  world.Settle();
  const WallTime now{std::chrono::seconds(world.version)};
  for (const std::string& annotation : WaitAnnotations(world)) {
    EXPECT_GT(ValueOf(FromRfc3339(annotation)), now + kFilesWaitFor - kFilesWaitRenewedAfter);
  }
  world.pools.at("worker").spec.paused = false;
  world.Settle();
  for (const auto& [name, node] : world.nodes)
    EXPECT_FALSE(node.metadata.annotations.contains(std::string(api::kFilesWaitAnnotation)));
}

TEST(RolloutPass, RenewsTheRequestToHoldBackFilesADayLater) {
  World world = ThreeWorkers();
  world.pools.at("worker").spec.paused = true;
  world.Settle();
  const auto first = WaitAnnotations(world);
  const int begun = world.version;
  world.version = begun + 23 * 3600;
  world.Settle();
  EXPECT_EQ(WaitAnnotations(world), first);
  world.version = begun + 25 * 3600;
  world.Settle();
  EXPECT_NE(WaitAnnotations(world), first);
}

TEST(RolloutPass, AsksNoNodeToHoldBackCertificatesThatPass) {
  World world = ThreeWorkers();
  world.pools.at("worker").spec.paused = true;
  world.Settle();
  world.pools.at("worker").metadata.annotations["pintle.io/pause-policy"] = "CertificatesPass";
  world.Settle();
  EXPECT_THAT(WaitAnnotations(world), testing::Each(""));
  // An unknown policy counts as Strict.
  world.pools.at("worker").metadata.annotations["pintle.io/pause-policy"] = "certificates";
  world.Settle();
  EXPECT_THAT(WaitAnnotations(world), testing::Each(testing::Ne("")));
}

TEST(RolloutPass, UpdatesNodesByThePolicyOnceItsMemoryIsWritten) {
  World world = ThreeWorkers();
  world.pools.at("worker").spec.max_unavailable = api::IntOrString{3};
  world.pools.at("worker").spec.configuration.name = "rendered-worker-2";
  pool::Policy policy;
  pool::Wave canary;
  canary.nodes = pool::NodeShare{1, false};
  policy.waves = {canary, pool::Wave()};
  world.policies["worker"] = {.policy = &policy};
  const Changes first = world.Pass();
  ASSERT_EQ(first.policies.size(), 1U);
  EXPECT_EQ(first.policies[0].status.memory.members.size(), 1U);
  EXPECT_FALSE(first.policies[0].news.empty());
  EXPECT_THAT(UpdatedIn(first), testing::IsEmpty());
  world.policies["worker"].before = &first.policies[0].status;
  const Changes second = world.Pass();
  EXPECT_THAT(UpdatedIn(second), testing::SizeIs(1));
  EXPECT_TRUE(json::Equal(second.policies.at(0).status.memory, first.policies[0].status.memory));
}

TEST(RolloutPass, UpdatesNoNodeWhileThePolicyOfItsPoolCannotBeUsed) {
  World world = ThreeWorkers();
  world.pools.at("worker").spec.configuration.name = "rendered-worker-2";
  world.policies["worker"] = {};
  const Changes changes = world.Pass();
  EXPECT_TRUE(changes.policies.empty());
  EXPECT_THAT(UpdatedIn(changes), testing::IsEmpty());
}

// ---- staging ----

using Patches = std::map<std::string, pool::NodePatch::Changes>;

// Returns the changes of the annotations about staging, by node.
Patches StagingIn(const Changes& changes) {
  Patches patches;
  for (const NodeChange& change : changes.nodes) {
    for (const auto& [key, value] : change.patch.metadata.annotations) {
      const bool is_about_staging =
          key == api::kStageAnnotation || key == api::kStagedAnnotation || key == api::kUnstageableAnnotation;
      if (is_about_staging) patches[change.node].emplace(key, value);
    }
  }
  return patches;
}

// Three workers that have kOld.  Their pool has the target kNew and a policy that stages it.
class StagingWorkers {
 public:
  StagingWorkers() {
    policy_.stages_all = true;
    policy_.waves = {pool::Wave()};
    world.pools["worker"].spec.configuration.name = kNew;
    world.policies["worker"] = {.policy = &policy_};
  }
  // Carries out the changes, and keeps the status of the policy as the API server does.
  Changes Pass() {
    Changes changes = world.Pass();
    world.Apply(changes);
    if (!changes.policies.empty()) {
      status_ = changes.policies[0].status;
      if (world.policies.contains("worker")) world.policies["worker"].before = &status_;
    }
    return changes;
  }
  std::string& Annotation(const std::string& node, std::string_view key) {
    return world.nodes.at(node).metadata.annotations[std::string(key)];
  }
  void ReportStaged() {
    for (const char* name : {"a", "b", "c"}) Annotation(name, api::kStagedAnnotation) = kNew;
  }

  World world = ThreeWorkers();

 private:
  pool::Policy policy_;
  api::RolloutPoolStatus status_;
};

TEST(RolloutPass, RequestsEachNodeToStageTheTargetOnce) {
  StagingWorkers workers;
  const pool::NodePatch::Changes request = {{std::string(api::kStageAnnotation), kNew}};
  EXPECT_EQ(StagingIn(workers.Pass()), (Patches{{"a", request}, {"b", request}, {"c", request}}));
  const Changes second = workers.Pass();
  EXPECT_TRUE(second.nodes.empty());
  EXPECT_EQ(second.policies.at(0).status.phase, "Staging");
}

TEST(RolloutPass, EndsTheStagingOfANodeByThePatchThatAssignsTheTarget) {
  StagingWorkers workers;
  workers.Pass();
  workers.ReportStaged();
  workers.Pass();
  const Changes changes = workers.Pass();
  EXPECT_EQ(UpdatedIn(changes), std::vector<std::string>{"a"});
  EXPECT_EQ(StagingIn(changes), (Patches{{"a",
                                          {{std::string(api::kStageAnnotation), std::nullopt},
                                           {std::string(api::kStagedAnnotation), std::nullopt}}}}));
}

TEST(RolloutPass, RemovesTheReportAboutATargetTogetherWithTheRequestForIt) {
  StagingWorkers workers;
  workers.Pass();
  workers.Annotation("a", api::kStagedAnnotation) = kNew;
  workers.Annotation("b", api::kUnstageableAnnotation) = "too little space";
  workers.world.pools["worker"].spec.configuration.name = "rendered-worker-newer";
  const std::string request(api::kStageAnnotation);
  EXPECT_EQ(
      StagingIn(workers.Pass()),
      (Patches{{"a", {{request, "rendered-worker-newer"}, {std::string(api::kStagedAnnotation), std::nullopt}}},
               {"b", {{request, "rendered-worker-newer"}, {std::string(api::kUnstageableAnnotation), std::nullopt}}},
               {"c", {{request, "rendered-worker-newer"}}}}));
}

TEST(RolloutPass, EndsTheStagingWithoutAPolicy) {
  StagingWorkers workers;
  workers.Pass();
  workers.world.policies.clear();
  const pool::NodePatch::Changes removal = {{std::string(api::kStageAnnotation), std::nullopt}};
  EXPECT_EQ(StagingIn(workers.Pass()), (Patches{{"a", removal}, {"b", removal}, {"c", removal}}));
}

TEST(RolloutPass, LeavesTheStagingAsItIsWhileThePolicyCannotBeUsedOrThePoolIsPaused) {
  StagingWorkers workers;
  workers.Pass();
  workers.ReportStaged();
  workers.world.pools["worker"].spec.configuration.name = "rendered-worker-newer";
  workers.world.pools["worker"].spec.paused = true;
  EXPECT_EQ(StagingIn(workers.Pass()), Patches());
  workers.world.pools["worker"].spec.paused = false;
  workers.world.policies["worker"].policy = nullptr;
  EXPECT_EQ(StagingIn(workers.Pass()), Patches());
}

}  // namespace
}  // namespace pintle::controller
