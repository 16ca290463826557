// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_needs.h"

#include "api/annotations.h"
#include "support/configs.h"
#include "support/expect.h"
#include "support/world.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kFile = "/etc/one";

// A node is about to get a config with another file.
class DrainNeedsTest : public testing::Test {
 protected:
  DrainNeedsTest() {
    world_.AddPool("worker", "old");
    world_.AddNode("a", "worker", "old");
    old_.metadata().name = "old";
    new_.metadata().name = "new";
    new_.WithFile(kFile, "data:,new");
    configuration_.metadata.generation = 2;
    configuration_.status.observed_generation = 2;
  }

  static api::NodeDisruptionPolicy WithoutDrain() {
    api::NodeDisruptionPolicy policy;
    policy.files.push_back({.path = kFile, .actions = {{.type = "None", .reload = {}, .restart = {}}}});
    return policy;
  }

  std::set<std::string> Draining() const {
    Changes changes;
    NodeChange& change = changes.nodes.emplace_back(
        NodeChange{.node = "a", .resource_version = "1", .patch = {}, .target_text = "MachineConfig: new"});
    change.patch.metadata.annotations.emplace(api::kDesiredConfigAnnotation, "new");
    View view = world_.Look();
    view.machine_configuration = &configuration_;
    const machineconfig::ParsedConfig from = old_;
    const machineconfig::ParsedConfig to = new_;
    WholeConfigs configs;
    configs.emplace("old", from);
    configs.emplace("new", to);
    return NodesToDrain(changes, view, configs);
  }

  World world_;
  plan::TestConfig old_;
  plan::TestConfig new_;
  api::MachineConfiguration configuration_;
};

TEST_F(DrainNeedsTest, AreThoseOfThePlan) {
  EXPECT_THAT(Draining(), ElementsAre("a"));
  configuration_.spec.node_disruption_policy = WithoutDrain();
  EXPECT_THAT(Draining(), IsEmpty());
}

// Agents use the policy in the status, once the status is about the latest generation of the spec.
TEST_F(DrainNeedsTest, FollowThePolicyThatAgentsFollow) {
  configuration_.status.node_disruption_policy_status.cluster_policies = WithoutDrain();
  EXPECT_THAT(Draining(), IsEmpty());
  configuration_.status.observed_generation = 1;
  EXPECT_THAT(Draining(), ElementsAre("a"));
}

}  // namespace
}  // namespace pintle::controller
