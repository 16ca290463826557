// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_server.h"

#include <gmock/gmock.h>

#include "api/node.h"
#include "controller/takeover_steps.h"
#include "json/parse.h"
#include "support/expect.h"
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

// Returns what the step "serving" waits for, or "" if it is done.
std::string ServingAwaits(const TakeoverState& state, const TakeoverSettings& settings) {
  const TakeoverStep step = ServingStep(state, settings);
  EXPECT_EQ(step.is_done, step.waits_for.empty());
  return step.waits_for;
}

// Such a pod takes the ports of its machine, or gives them back, after the others have answered.
TEST(TakeoverServer, IsNotHandedOverWhileAPodOfOursStartsOrEnds) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  TakeoverState state = cluster.State();
  EXPECT_EQ(ServingAwaits(state, cluster.settings_), "");
  state.server_replicas.push_back({.pod = "c", .phase = ServerReplica::Phase::kStarts});
  EXPECT_THAT(ServingAwaits(state, cluster.settings_), testing::HasSubstr("in the pods c (which has not started) of"));
  state.server_replicas.back().phase = ServerReplica::Phase::kEnds;
  EXPECT_THAT(ServingAwaits(state, cluster.settings_), testing::HasSubstr("in the pods c (which has to end) of"));
  state.server_replicas.clear();
  EXPECT_THAT(ServingAwaits(state, cluster.settings_), testing::HasSubstr("in the pods (there are none yet) of"));
}

// A machine that is down must not keep the other machines from their new daemons.
TEST(TakeoverServer, IsHandedOverThoughAMachineIsDown) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  TakeoverState state = cluster.State();
  api::Node down;
  down.metadata.name = "lost";
  down.status.conditions = {{.type = "Ready", .status = "Unknown"}};
  state.nodes.push_back(down);
  state.ours->status = ValueOf(json::Parse(R"({"replicas": 2, "updatedReplicas": 2, "readyReplicas": 1})"));
  state.server_replicas = {{.pod = "a", .node = "m1", .answers = true},
                           {.pod = "b", .node = "lost", .phase = ServerReplica::Phase::kEnds},
                           {.pod = "c", .phase = ServerReplica::Phase::kStarts}};
  EXPECT_EQ(ServingAwaits(state, cluster.settings_), "");
  // Only one pod replaces that of the lost machine.
  state.server_replicas.push_back({.pod = "d", .phase = ServerReplica::Phase::kStarts});
  EXPECT_THAT(ServingAwaits(state, cluster.settings_), testing::HasSubstr("in the pods d (which has not started) of"));
  state.nodes.back().status.conditions[0].status = "True";
  EXPECT_THAT(ServingAwaits(state, cluster.settings_), testing::HasSubstr("in the pods b (which has to end), c "));
}

// Between two pods, each pod that there is may answer.
TEST(TakeoverServer, IsNotHandedOverWhileOurDeploymentMayStartOrEndPods) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  const auto awaits = [&](const char* status) {
    TakeoverState state = cluster.State();
    state.ours->metadata.generation = 7;
    state.ours->status = ValueOf(json::Parse(status));
    return ServingAwaits(state, cluster.settings_);
  };
  EXPECT_EQ(awaits(R"({"observedGeneration": 7, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2})"), "");
  const auto not_ready = testing::StartsWith(
      "this is corrected: not all replicas of the Deployment pintle/pintle-controller are ready with its present "
      "settings; `kubectl describe");
  EXPECT_THAT(awaits(R"({"observedGeneration": 6, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2})"),
              not_ready);
  EXPECT_THAT(awaits(R"({"observedGeneration": 7, "replicas": 2, "updatedReplicas": 1, "readyReplicas": 2})"),
              not_ready);
  EXPECT_THAT(awaits(R"({"observedGeneration": 7, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1})"),
              not_ready);
  EXPECT_THAT(awaits(R"({"observedGeneration": 7, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 1})"),
              not_ready);
  EXPECT_THAT(awaits(R"({"observedGeneration": 7, "replicas": 3, "updatedReplicas": 2, "readyReplicas": 3})"),
              testing::StartsWith("this is corrected: the Deployment pintle/pintle-controller has pods with earlier "
                                  "settings; "));
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
