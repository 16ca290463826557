// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_server.h"

#include <gmock/gmock.h>

#include "api/node.h"
#include "controller/takeover_steps.h"
#include "unit/controller/simulated_takeover.h"

namespace pintle::controller {
namespace {

TEST(TakeoverServer, EndsOnlyWhenOursCanBegin) {
  SimulatedTakeover cluster;
  cluster.objects_["Deployment/pintle-controller"]["status"]["updatedReplicas"] = 1;
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["DaemonSet/machine-config-server"]["status"]["currentNumberScheduled"], 3);
  const auto next = StepsToTakeOver(cluster.State(), cluster.settings_, cluster.now());
  ASSERT_NE(NextOf(next), nullptr);
  EXPECT_EQ(NextOf(next)->waits_for,
            "this is corrected: not all replicas of the Deployment pintle/pintle-controller are ready with its present "
            "settings");
}

TEST(TakeoverServer, StaysIfOursIsNotDeployed) {
  SimulatedTakeover cluster;
  cluster.objects_["Deployment/pintle-controller"]["spec"].erase("template");
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["DaemonSet/machine-config-server"]["status"]["currentNumberScheduled"], 3);
  EXPECT_THAT(WhyServerMustStay(cluster.State(), cluster.settings_),
              testing::EndsWith("has no Ignition server; apply deploy/ignition/openshift"));
}

TEST(TakeoverServer, IsHandedOverWhenOursAnswersInEachPod) {
  SimulatedTakeover cluster;
  cluster.serves_ = false;
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  const auto next = StepsToTakeOver(cluster.State(), cluster.settings_, cluster.now());
  ASSERT_NE(NextOf(next), nullptr);
  EXPECT_EQ(
      NextOf(next)->waits_for,
      "the Ignition server answers, and has the configs of all pools, in the pods b of the Deployment "
      "pintle/pintle-controller; `kubectl describe -n pintle deployment pintle-controller` and `kubectl logs -n pintle "
      "deployment/pintle-controller` list the reason");
  cluster.serves_ = true;
  EXPECT_TRUE(cluster.Run(StepsToTakeOver));
}

TEST(TakeoverServer, IsBackBeforeOurReplicasStart) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.ready_servers_ = 2;
  EXPECT_FALSE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["Deployment/pintle-controller"]["spec"]["replicas"], 0);
  const auto steps = StepsToUndo(cluster.State(), cluster.settings_, cluster.now());
  ASSERT_NE(NextOf(steps), nullptr);
  EXPECT_EQ(NextOf(steps)->waits_for, "all pods of the DaemonSet machine-config-server are ready (2 of 3 are)");
  cluster.ready_servers_ = 3;
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["Deployment/pintle-controller"]["spec"]["replicas"], 2);
}

TEST(TakeoverServer, IsAwaitedOnEachNodeWithARemedy) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.ready_servers_ = 1;
  EXPECT_FALSE(cluster.Run(StepsToUndo));
  TakeoverState state = cluster.State();
  EXPECT_TRUE(AreServersAwaited(state));
  state.server->metadata.namespace_name = "n";
  for (api::Node& node : state.nodes) {
    const bool is_down = node.metadata.name == "b";
    node.status.conditions = {{.type = "Ready", .status = is_down ? "Unknown" : "True"}};
  }
  state.unready_servers = {{"a", "server-1"}, {"b", "server-2"}};
  EXPECT_EQ(NextOf(StepsToUndo(state, cluster.settings_, cluster.now()))->waits_for,
            "all pods of the DaemonSet machine-config-server are ready (1 of 3 are). The pod server-1 on the node a is "
            "not ready: `kubectl describe -n n pod server-1` lists the reason. The pod server-2 on the node b is not "
            "ready, because the node is not Ready: start its machine, or delete its Node if the machine is gone");
}

}  // namespace
}  // namespace pintle::controller
