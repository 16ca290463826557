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
using testing::UnorderedElementsAre;

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

  // Adds an update that gives a node another config.
  void Update(const std::string& node, const std::string& config) {
    NodeChange& change = changes_.nodes.emplace_back(
        NodeChange{.node = node, .resource_version = "1", .patch = {}, .target_text = "MachineConfig: " + config});
    change.patch.metadata.annotations.emplace(api::kDesiredConfigAnnotation, config);
  }

  View Look() {
    View view = world_.Look();
    view.machine_configuration = &configuration_;
    return view;
  }

  // Returns what Decide() returns if the configs `old` and `new` are fetched.
  bool Decide(const View& view) {
    const machineconfig::ParsedConfig from = old_;
    const machineconfig::ParsedConfig to = new_;
    WholeConfigs configs;
    configs.emplace("old", from);
    configs.emplace("new", to);
    return needs_.Decide(view, configs, [](const std::string&) { return true; });
  }

  std::set<std::string> Draining() {
    changes_ = {};
    Update("a", "new");
    const View view = Look();
    needs_.Look(changes_, view);
    EXPECT_FALSE(Decide(view));
    return needs_.NodesToDrain(changes_, view).value();
  }

  World world_;
  plan::TestConfig old_;
  plan::TestConfig new_;
  api::MachineConfiguration configuration_;
  Changes changes_;
  DrainNeeds needs_;
};

TEST_F(DrainNeedsTest, AreThoseOfThePlan) {
  EXPECT_THAT(Draining(), ElementsAre("a"));
  configuration_.spec.node_disruption_policy = WithoutDrain();
  configuration_.metadata.resource_version = "2";
  EXPECT_THAT(Draining(), IsEmpty());
}

// Agents use the policy in the status, once the status is about the latest generation of the spec.
TEST_F(DrainNeedsTest, FollowThePolicyThatAgentsFollow) {
  configuration_.status.node_disruption_policy_status.cluster_policies = WithoutDrain();
  EXPECT_THAT(Draining(), IsEmpty());
  configuration_.status.observed_generation = 1;
  configuration_.metadata.resource_version = "2";
  EXPECT_THAT(Draining(), ElementsAre("a"));
}

// Whole configs are large.
TEST_F(DrainNeedsTest, AreDecidedForAFewConfigsAtATime) {
  for (const std::string pool : {"1", "2", "3", "4", "5", "6"}) {
    world_.AddNode("node-" + pool, "worker", "old-" + pool);
    Update("node-" + pool, "new-" + pool);
  }
  const View view = Look();
  needs_.Look(changes_, view);
  EXPECT_EQ(needs_.ConfigsToCompare().size(), 8U);
  EXPECT_EQ(needs_.NodesToDrain(changes_, view), std::nullopt);
  EXPECT_TRUE(Decide(view));
  EXPECT_THAT(needs_.ConfigsToCompare(), UnorderedElementsAre("new-5", "new-6", "old-5", "old-6"));
  EXPECT_EQ(needs_.NodesToDrain(changes_, view), std::nullopt);
  EXPECT_FALSE(Decide(view));
  EXPECT_THAT(needs_.ConfigsToCompare(), IsEmpty());
  // The configs are unknown, so drains are assumed.
  EXPECT_THAT(needs_.NodesToDrain(changes_, view), testing::Optional(testing::SizeIs(6)));
}

TEST_F(DrainNeedsTest, WaitForConfigsThatAreBeingFetched) {
  Update("a", "new");
  const View view = Look();
  needs_.Look(changes_, view);
  EXPECT_FALSE(needs_.Decide(view, {}, [](const std::string& config) { return config == "old"; }));
  EXPECT_EQ(needs_.NodesToDrain(changes_, view), std::nullopt);
  EXPECT_THAT(needs_.ConfigsToCompare(), UnorderedElementsAre("new", "old"));
}

// Here no config can be read, so a drain is assumed.  A later rollout of the same config may be able to read it.
TEST_F(DrainNeedsTest, AreForgottenWhenNoNodeWaits) {
  configuration_.spec.node_disruption_policy = WithoutDrain();
  Update("a", "new");
  const View view = Look();
  needs_.Look(changes_, view);
  needs_.Decide(view, {}, [](const std::string&) { return true; });
  EXPECT_THAT(needs_.NodesToDrain(changes_, view), testing::Optional(ElementsAre("a")));
  needs_.Look({}, view);
  needs_.Look(changes_, view);
  Decide(view);
  EXPECT_THAT(needs_.NodesToDrain(changes_, view), testing::Optional(IsEmpty()));
}

}  // namespace
}  // namespace pintle::controller
