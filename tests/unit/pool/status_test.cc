// SPDX-License-Identifier: Apache-2.0
#include "pool/status.h"

#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

using testing::ElementsAre;

api::Condition ConditionOf(const std::string& type, const std::string& status, const std::string& message = "",
                           std::optional<api::Time> when = {}) {
  return {.type = type, .status = status, .last_transition_time = when, .reason = "", .message = message};
}

const api::Condition& ConditionIn(const api::MachineConfigPoolStatus& status, const std::string& type) {
  for (const api::Condition& condition : status.conditions) {
    if (condition.type == type) return condition;
  }
  throw std::runtime_error("no condition " + type);
}

std::vector<std::string> Types(const std::vector<api::Condition>& conditions) {
  std::vector<std::string> types;
  for (const api::Condition& condition : conditions) types.push_back(condition.type);
  return types;
}

api::MachineConfigNode Reporting(const std::string& name, const std::string& type, const std::string& message = "") {
  api::MachineConfigNode node;
  node.metadata.name = name;
  node.status.conditions.push_back(ConditionOf(type, "True", message));
  node.status.config_version = {.current = "", .desired = kNew};
  return node;
}

const api::Time kEarlier{WallTime(std::chrono::seconds(1))};
const api::Time kNow{WallTime(std::chrono::seconds(2))};

TEST(SetCondition, KeepsThePlaceOfAnUnchangedCondition) {
  std::vector<api::Condition> conditions = {ConditionOf("A", "True", "m", kEarlier), ConditionOf("B", "True")};
  SetCondition(conditions, ConditionOf("A", "True", "m", kNow));
  EXPECT_THAT(Types(conditions), ElementsAre("A", "B"));
  EXPECT_EQ(conditions[0].last_transition_time, kEarlier);
}

TEST(SetCondition, MovesAChangedConditionToTheEnd) {
  std::vector<api::Condition> conditions = {ConditionOf("A", "True", "", kEarlier), ConditionOf("B", "True"),
                                            ConditionOf("A", "False", "", kEarlier)};
  SetCondition(conditions, ConditionOf("A", "True", "", kNow));
  EXPECT_THAT(Types(conditions), ElementsAre("B", "A"));
  EXPECT_EQ(conditions[1].last_transition_time, kNow);
}

TEST(SetCondition, KeepsTheTimeOfAnUnchangedStatus) {
  std::vector<api::Condition> conditions = {ConditionOf("A", "True", "old", kEarlier)};
  SetCondition(conditions, ConditionOf("A", "True", "new", kNow));
  EXPECT_EQ(conditions[0].message, "new");
  EXPECT_EQ(conditions[0].last_transition_time, kEarlier);
}

TEST(Status, MovesToTheNewConfigurationWhenAllNodesHaveIt) {
  const auto status = Decide(PoolWith(kNew), {NodeAt("a", kNew), NodeAt("b", kNew)}).status;
  EXPECT_EQ(status.configuration.name, kNew);
  EXPECT_EQ(status.updated_machine_count, 2);
  EXPECT_EQ(status.ready_machine_count, 2);
  EXPECT_EQ(ConditionIn(status, "Updated").message, "All nodes are updated with MachineConfig rendered-worker-new");
  EXPECT_THAT(Types(status.conditions), ElementsAre("Updated", "Updating", "NodeDegraded", "Degraded"));
}

TEST(Status, KeepsTheOldConfigurationUntilAllNodesHaveTheNewOne) {
  const auto status = Decide(PoolWith(kNew), {NodeAt("a", kNew), NotReady(NodeAt("b", kNew))}).status;
  EXPECT_EQ(status.configuration.name, kOld);
  EXPECT_EQ(status.updated_machine_count, 2);
  EXPECT_EQ(status.ready_machine_count, 1);
  EXPECT_EQ(status.unavailable_machine_count, 1);
  EXPECT_EQ(ConditionIn(status, "Updating").message, "All nodes are updating to MachineConfig rendered-worker-new");
}

TEST(Status, ReportsThatAPausedPoolWillNotUpdate) {
  api::MachineConfigPool pool = PoolWith(kNew);
  pool.spec.paused = true;
  const auto status = Decide(pool, {NodeAt("a", kOld)}).status;
  EXPECT_EQ(ConditionIn(status, "Updating").status, "False");
  EXPECT_EQ(ConditionIn(status, "Updating").message,
            "Pool is paused; will not update to MachineConfig rendered-worker-new");
}

api::MachineOSConfig ConfigOfImage() {
  api::MachineOSConfig config;
  config.metadata.name = "mosc";
  config.spec.machine_config_pool.name = "worker";
  config.status.current_image_pull_spec = "os@sha256:aa";
  return config;
}

api::MachineOSBuild BuildWith(const std::string& condition) {
  api::MachineOSBuild build;
  build.metadata.name = "mosb";
  build.spec.machine_config.name = kNew;
  build.status.conditions = {ConditionOf(condition, "True")};
  return build;
}

// Returns the conditions of a pool with a node that does not have the target, after two decisions.  The first decision
// is made at kEarlier and the second one at kNow.
std::vector<api::Condition> ConditionsAfterTwoDecisions(api::MachineConfigPool pool, const Layering& layering) {
  const std::vector<api::Node> nodes = {NodeAt("a", kOld)};
  const auto states = States(nodes);
  Situation situation = SituationOf(pool, states);
  situation.layering = layering;
  situation.now = kEarlier;
  pool.status.conditions = Decide(situation).status.conditions;
  situation.now = kNow;
  return Decide(situation).status.conditions;
}

TEST(Status, KeepsTheTransitionTimesOfALayeredPoolThatDoesNotChange) {
  const api::MachineOSConfig config = ConfigOfImage();
  const api::MachineOSBuild failed = BuildWith("Failed");
  const api::MachineOSBuild interrupted = BuildWith("Interrupted");
  const api::MachineOSBuild running = BuildWith("Building");
  const std::vector<const api::MachineOSBuild*> builds = {&failed, &interrupted, &running, nullptr};
  for (const bool is_paused : {false, true}) {
    for (const api::MachineOSBuild* const build : builds) {
      api::MachineConfigPool pool = PoolWith(kNew);
      pool.spec.paused = is_paused;
      for (const api::Condition& condition : ConditionsAfterTwoDecisions(pool, {.config = &config, .build = build})) {
        EXPECT_EQ(condition.last_transition_time, kEarlier) << condition.type << ": " << condition.message;
      }
    }
  }
}

TEST(Status, KeepsTheTransitionTimeOfALayeredPoolThatIsDegraded) {
  const api::MachineOSConfig config = ConfigOfImage();
  const api::MachineOSBuild build = BuildWith("Succeeded");
  api::MachineConfigPool pool = PoolWith(kNew);
  pool.status.conditions = {ConditionOf("RenderDegraded", "True", "bad", kEarlier),
                            ConditionOf("Updating", "False", "Pool update paused due to degraded condition", kEarlier)};
  const std::vector<api::Node> nodes = {NodeAt("a", kOld)};
  const auto states = States(nodes);
  Situation situation = SituationOf(pool, states);
  situation.layering = {.config = &config, .build = &build};
  situation.now = kNow;
  EXPECT_EQ(ConditionIn(Decide(situation).status, "Updating").last_transition_time, kEarlier);
}

TEST(Status, IsDegradedByRenderingAndNotByAFormerImageBuild) {
  api::MachineConfigPool pool = PoolWith(kNew);
  pool.status.conditions = {ConditionOf("RenderDegraded", "True", "bad")};
  const auto by_render = Decide(pool, {NodeAt("a", kNew)}).status;
  EXPECT_EQ(ConditionIn(by_render, "Degraded").status, "True");
  EXPECT_EQ(ConditionIn(by_render, "Degraded").message, "");
  pool.status.conditions = {ConditionOf("ImageBuildDegraded", "True", "bad")};
  const auto cleared = Decide(pool, {NodeAt("a", kNew)}).status;
  EXPECT_EQ(ConditionIn(cleared, "Degraded").status, "False");
  EXPECT_EQ(ConditionIn(cleared, "ImageBuildDegraded").reason, "NoLayeredObjects");
}

TEST(Status, QuotesTheReasonsOfDegradedNodes) {
  const api::MachineConfigPool pool = PoolWith(kNew);
  const std::vector<api::Node> nodes = {
      Annotated(NodeBetween("a", kOld, kNew, api::kStateDegraded), api::kReasonAnnotation, "on \"a\""),
      NodeBetween("b", kOld, kNew, api::kStateUnreconcilable)};
  const auto states = States(nodes);
  const std::vector<api::MachineConfigNode> reports = {Reporting("b", "NodeDegraded", "no\nway"),
                                                       Reporting("a", "NodeDegraded", "full")};
  const std::vector<const api::MachineConfigNode*> report_pointers = {&reports[0], &reports[1]};
  Situation situation = SituationOf(pool, states);
  situation.machine_config_nodes = report_pointers;
  const auto status = Decide(situation).status;
  EXPECT_EQ(status.degraded_machine_count, 2);
  EXPECT_EQ(ConditionIn(status, "NodeDegraded").reason, "2 nodes are reporting degraded status on sync");
  EXPECT_EQ(ConditionIn(status, "Degraded").message,
            R"(Node b is reporting: "no\nway", Node a is reporting: "full", Node a is reporting: "on \"a\"")");
}

TEST(Status, CountsNodesByTheirMachineConfigNodesIfTheFeatureGateIsOn) {
  const api::MachineConfigPool pool = PoolWith(kNew);
  const std::vector<api::Node> nodes = {NodeAt("a", kOld), NodeAt("b", kOld), NodeAt("c", kOld)};
  const auto states = States(nodes);
  std::vector<api::MachineConfigNode> reports = {Reporting("a", "Updated"), Reporting("b", "NodeDegraded"),
                                                 Reporting("c", "Updated")};
  reports[2].status.config_version.reset();
  const std::vector<const api::MachineConfigNode*> report_pointers = {&reports[0], &reports[1], &reports[2]};
  Situation situation = SituationOf(pool, states);
  situation.machine_config_nodes = report_pointers;
  const std::vector<std::string> gates = {"ImageModeStatusReporting"};
  situation.features = Features::Named(gates);
  const auto status = Decide(situation).status;
  EXPECT_EQ(status.updated_machine_count, 1);
  EXPECT_EQ(status.degraded_machine_count, 1);
}

TEST(Status, NamesTheStreamWhoseImageAllNodesRun) {
  api::MachineConfigPool pool = PoolWith(kNew);
  pool.spec.configuration.source.push_back({.kind = "MachineConfig",
                                            .namespace_name = "",
                                            .name = "00-worker",
                                            .uid = "",
                                            .api_version = "",
                                            .resource_version = "",
                                            .field_path = ""});
  const std::vector<api::Node> nodes = {NodeAt("a", kNew)};
  const auto states = States(nodes);
  const std::vector<api::OSImageStreamSet> streams = {{"nine", "os-9", ""}, {"ten", "os-10", ""}};
  KnownConfigs configs;
  Situation situation = SituationOf(pool, states, configs);
  situation.os_image_streams = streams;
  configs[kNew] = {.owner = "worker", .os_image_url = "os-10"};
  EXPECT_FALSE(Decide(situation).status.os_image_stream.has_value());
  situation.features.os_streams = true;
  EXPECT_EQ(Decide(situation).status.os_image_stream->name, "ten");
  configs["00-worker"] = {.owner = "", .os_image_url = "os-10"};
  EXPECT_FALSE(Decide(situation).status.os_image_stream.has_value());
}

}  // namespace
}  // namespace pintle::pool
