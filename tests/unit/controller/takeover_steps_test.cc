// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_steps.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "controller/takeover_pods.h"
#include "controller/takeover_record.h"
#include "unit/controller/simulated_takeover.h"

namespace pintle::controller {
namespace {

using std::chrono::seconds;

TEST(StepsToTakeOver, EndWithPintleAsTheHolderOfBothLeases) {
  SimulatedTakeover cluster;
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "machine-config-controller-x_1");
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "pintle-controller_y_1");
  EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-controller_y_1");
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 0);
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-controller"]["spec"]["replicas"], 0);
  EXPECT_EQ(cluster.objects_["ClusterVersion/version"]["spec"]["overrides"].size(), 1U);
  EXPECT_EQ(cluster.objects_["DaemonSet/machine-config-server"]["status"]["currentNumberScheduled"], 0);
  EXPECT_EQ(cluster.Labels(), "acts acts - ");
  EXPECT_EQ(cluster.daemons_, (std::set<std::string, std::less<>>{"c"}));
  // A second takeover has nothing left to do.
  const std::size_t before = cluster.writes_.size();
  EXPECT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.writes_.size(), before);
}

TEST(StepsToTakeOver, LeaveNoLeaseToTheOperatorMeanwhile) {
  for (const bool heeds_written : {false, true}) {
    SimulatedTakeover cluster;
    cluster.heeds_written_duration_ = heeds_written;
    ASSERT_TRUE(cluster.Run(StepsToTakeOver));
    // A lease that the operator had got back would have had to be held a second time.
    const auto held = std::count_if(cluster.writes_.begin(), cluster.writes_.end(), [](const std::string& write) {
      return write.find("when its holder has given up") != std::string::npos;
    });
    EXPECT_EQ(held, 2) << heeds_written;
  }
}

TEST(StepsToTakeOver, HoldALeaseLongEnoughAlsoIfTheyGoOnOnAMachineWithAnotherClock) {
  for (const seconds ahead : {seconds(3600), seconds(-3600)}) {
    SimulatedTakeover cluster;
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, 3));
    EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-takeover");
    cluster.ahead_ = ahead;
    // Pass() fails the test if two candidates act at once.
    EXPECT_TRUE(cluster.Run(StepsToTakeOver));
    EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-controller_y_1");
  }
}

TEST(StepsToTakeOver, HoldALeaseUntilItsHolderHasTriedForTheLastTime) {
  SimulatedTakeover cluster;
  EXPECT_FALSE(cluster.Run(StepsToTakeOver, 2));
  // In a cluster of one machine, a holder acts for 60 s + 240 s after its last renewal.
  auto& spec = cluster.objects_["Lease/machine-config"]["spec"];
  spec["leaseDurationSeconds"] = 270;
  const auto next_write = [&](seconds held_for) {
    TakeoverState state = cluster.State();
    state.operator_sight = {.unchanged_for = seconds(1), .held_for = held_for, .is_written = true};
    return NextOf(StepsToTakeOver(state, cluster.settings_, cluster.now()))->write.value();
  };
  cluster.Make(next_write(seconds(0)));
  EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-takeover");
  EXPECT_EQ(cluster.objects_["Lease/machine-config"]["spec"]["leaseDurationSeconds"], 338);
  EXPECT_THAT(next_write(seconds(330)).in_words, testing::HasSubstr("machine-config-controller: is held until"));
  EXPECT_THAT(next_write(seconds(338)).in_words, testing::HasSubstr("machine-config: is left to Pintle's replicas"));
}

TEST(StepsToTakeOver, KeepTheLeasesForPintleForAsLongAsTheyAreRun) {
  SimulatedTakeover cluster;
  cluster.are_stuck_ = true;
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-takeover-offer");
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "pintle-takeover-offer");
  // When nobody renews the hold any more, the operator gets its leases back.
  for (int i = 0; i < 400; ++i) cluster.Pass();
  EXPECT_EQ(cluster.HolderOf("machine-config"), "machine-config-operator-x_1");
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "machine-config-controller-x_1");
}

TEST(StepsToTakeOver, ScaleNothingDownBeforePintleHoldsTheLeases) {
  SimulatedTakeover cluster;
  cluster.are_ready_ = false;
  cluster.Pass();
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 1);
  EXPECT_EQ(cluster.HolderOf("machine-config"), "machine-config-operator-x_1");
}

TEST(StepsToTakeOver, ScaleNothingDownForAHolderThatHasEnded) {
  SimulatedTakeover cluster;
  cluster.are_stuck_ = true;
  for (const char* lease : {"Lease/machine-config", "Lease/machine-config-controller"}) {
    cluster.objects_[lease]["spec"]["holderIdentity"] = "pintle-controller_z_1";
  }
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 1);
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-controller"]["spec"]["replicas"], 1);
}

TEST(StepsToTakeOver, AreNotDoneWhileNoReplicaOfOursIsReady) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_["Deployment/pintle-controller"]["status"].erase("readyReplicas");
  const auto steps = StepsToTakeOver(cluster.State(), cluster.settings_, cluster.now());
  ASSERT_NE(NextOf(steps), nullptr);
  EXPECT_EQ(NextOf(steps)->waits_for, "a replica of the Deployment pintle/pintle-controller is ready");
}

TEST(StepsToTakeOver, WaitForPodsThatAreTerminating) {
  SimulatedTakeover cluster;
  cluster.lingering_ = "machine-config-controller-1 on the node a";
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  const auto steps = StepsToTakeOver(cluster.State(), cluster.settings_, cluster.now());
  ASSERT_NE(NextOf(steps), nullptr);
  EXPECT_EQ(
      NextOf(steps)->waits_for,
      "the pods of the Deployment machine-config-controller have ended: machine-config-controller-1 on the node a");
  cluster.lingering_.clear();
  EXPECT_TRUE(cluster.Run(StepsToTakeOver));
}

// Otherwise a pod could start after the step.
TEST(StepsToTakeOver, WaitUntilTheDeploymentsControllerHasSeenThatThereAreToBeNoReplicas) {
  SimulatedTakeover cluster;
  cluster.settings_.with_server = cluster.settings_.with_daemons = false;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  TakeoverState state = cluster.State();
  state.operators->metadata.generation = 2;
  state.operators->status["observedGeneration"] = 1;
  const TakeoverStep step = StopStep("operator", state.operators, state);
  EXPECT_FALSE(step.is_done || step.write);
  EXPECT_EQ(step.waits_for, "the pods of the Deployment machine-config-operator have ended");
  state.operators->status["observedGeneration"] = 2;
  EXPECT_TRUE(StopStep("operator", state.operators, state).is_done);
}

TEST(HasTakenAnything, IsTrueOnlyAfterTheRecordAndTheOverride) {
  for (std::size_t writes = 0; writes < 5; ++writes) {
    SimulatedTakeover cluster;
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, writes));
    EXPECT_EQ(HasTakenAnything(cluster.State(), cluster.settings_), writes > 2) << writes;
  }
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_TRUE(HasTakenAnything(cluster.State(), cluster.settings_));
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_FALSE(HasTakenAnything(cluster.State(), cluster.settings_));
}

TEST(StepsToUndo, NameARemedyWhileOurReplicasHaveNotEnded) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  const auto steps = StepsToUndo(cluster.State(), cluster.settings_, cluster.now());
  const auto leave = std::find_if(steps.begin(), steps.end(), [](const auto& step) { return step.name == "leave"; });
  ASSERT_NE(leave, steps.end());
  EXPECT_THAT(leave->waits_for,
              testing::HasSubstr("`kubectl get -n pintle pods -o wide` lists the pods that are left"));
}

TEST(StepsToTakeOver, GoOnAfterAnUndoThatWasCutShortAfterAnyWrite) {
  SimulatedTakeover taken_over;
  ASSERT_TRUE(taken_over.Run(StepsToTakeOver));
  SimulatedTakeover undone = taken_over;
  ASSERT_TRUE(undone.Run(StepsToUndo));
  for (std::size_t writes = 1; writes < undone.writes_.size() - taken_over.writes_.size(); ++writes) {
    SimulatedTakeover cluster = taken_over;
    EXPECT_FALSE(cluster.Run(StepsToUndo, writes));
    ASSERT_TRUE(cluster.Run(StepsToTakeOver)) << "after " << cluster.writes_.back();
    EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-controller_y_1");
    EXPECT_EQ(cluster.objects_["Deployment/pintle-controller"]["spec"]["replicas"], 2);
    EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 0);
    EXPECT_EQ(cluster.Labels(), "acts acts - ");
  }
}

TEST(StepsToUndo, EndTheSameIfTheyWereCutShortAfterAnyWrite) {
  SimulatedTakeover taken_over;
  const auto before = taken_over.ComparableObjects();
  ASSERT_TRUE(taken_over.Run(StepsToTakeOver));
  EXPECT_NE(taken_over.ComparableObjects().at("MachineConfigPool/worker"), before.at("MachineConfigPool/worker"));
  SimulatedTakeover undone = taken_over;
  ASSERT_TRUE(undone.Run(StepsToUndo));
  EXPECT_EQ(undone.ComparableObjects(), before);
  for (std::size_t writes = 1; writes < undone.writes_.size() - taken_over.writes_.size(); ++writes) {
    SimulatedTakeover cluster = taken_over;
    EXPECT_FALSE(cluster.Run(StepsToUndo, writes));
    ASSERT_TRUE(cluster.Run(StepsToUndo)) << "after " << cluster.writes_.back();
    for (int i = 0; i < 300; ++i) cluster.Pass();
    EXPECT_EQ(cluster.ComparableObjects(), before) << writes;
  }
}

TEST(StepsToUndo, MakeEverythingAsItWas) {
  SimulatedTakeover cluster;
  const auto before = cluster.ComparableObjects();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  for (int i = 0; i < 300; ++i) cluster.Pass();
  EXPECT_EQ(cluster.ComparableObjects(), before);
  EXPECT_EQ(cluster.HolderOf("machine-config"), "machine-config-operator-x_1");
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "machine-config-controller-x_1");
}

// A cluster in which somebody has scaled the operator and its controller down, as the override allows.
void ScaleDownByHand(SimulatedTakeover& cluster) {
  cluster.objects_["ClusterVersion/version"]["spec"]["overrides"] = nlohmann::json::parse(R"([{"kind": "Deployment",
      "group": "apps", "namespace": "openshift-machine-config-operator", "name": "machine-config-operator",
      "unmanaged": true}])");
  for (const char* name : {"Deployment/machine-config-operator", "Deployment/machine-config-controller"}) {
    cluster.objects_[name]["spec"]["replicas"] = 0;
  }
  for (int i = 0; i < 300; ++i) cluster.Pass();
}

TEST(StepsToUndo, LeaveDeploymentsWithoutReplicasThatHadNoneBefore) {
  SimulatedTakeover cluster;
  ScaleDownByHand(cluster);
  const auto before = cluster.ComparableObjects();
  EXPECT_EQ(WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_), "");
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  const nlohmann::json record = cluster.objects_[SimulatedTakeover::kRecord]["data"]["before.json"];
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_[SimulatedTakeover::kRecord]["data"]["before.json"], record);
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.ComparableObjects(), before);
}

// The operator has no replicas, so nobody takes the leases that the takeover has held.
TEST(StepsToUndo, EndFromTheMiddleInAClusterWhoseOperatorWasKilledAndHasNoReplicas) {
  SimulatedTakeover whole;
  ScaleDownByHand(whole);
  ASSERT_TRUE(whole.Run(StepsToTakeOver));
  for (std::size_t writes = 1; writes < whole.writes_.size(); writes += 4) {
    SimulatedTakeover cluster;
    ScaleDownByHand(cluster);
    // The operator has not released its leases.
    for (const std::string lease : {"machine-config", "machine-config-controller"}) {
      cluster.objects_["Lease/" + lease]["spec"]["holderIdentity"] = lease + "-x_9";
    }
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, writes));
    const std::size_t begun = cluster.writes_.size();
    ASSERT_TRUE(cluster.Run(StepsToUndo)) << writes;
    const auto removals = std::count_if(
        cluster.writes_.begin() + static_cast<std::ptrdiff_t>(begun), cluster.writes_.end(),
        [](const std::string& write) { return write.starts_with("ConfigMap") && write.ends_with("is removed"); });
    EXPECT_EQ(removals, 1) << writes;
  }
}

TEST(StepsToUndo, LeaveOutADeploymentThatWasMissingAndGiveBackOneThatCameDuringTheTakeover) {
  for (const bool comes_during_takeover : {false, true}) {
    SimulatedTakeover cluster;
    const nlohmann::json controller = cluster.objects_["Deployment/machine-config-controller"];
    ScaleDownByHand(cluster);
    cluster.objects_.erase("Deployment/machine-config-controller");
    auto before = cluster.ComparableObjects();
    ASSERT_TRUE(cluster.Run(StepsToTakeOver));
    if (comes_during_takeover) {
      cluster.objects_["Deployment/machine-config-controller"] = controller;
      before["Deployment/machine-config-controller"] = controller;
      before["Deployment/machine-config-controller"]["metadata"].erase("resourceVersion");
      ASSERT_TRUE(cluster.Run(StepsToTakeOver));
      EXPECT_EQ(cluster.objects_["Deployment/machine-config-controller"]["spec"]["replicas"], 0);
    }
    ASSERT_TRUE(cluster.Run(StepsToUndo));
    for (int i = 0; i < 10; ++i) cluster.Pass();
    EXPECT_EQ(cluster.ComparableObjects(), before) << comes_during_takeover;
  }
}

TEST(HasTakenAnything, IsFalseIfOnlySomebodyElseHasScaledDown) {
  SimulatedTakeover cluster;
  cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"] = 0;
  EXPECT_FALSE(cluster.Run(StepsToTakeOver, 2));
  EXPECT_FALSE(HasTakenAnything(cluster.State(), cluster.settings_));
}

TEST(StepsToUndo, MakeEverythingAsItWasIfStartEndedAfterAnyWrite) {
  SimulatedTakeover whole;
  ASSERT_TRUE(whole.Run(StepsToTakeOver));
  std::set<std::string> kinds;
  for (std::size_t writes = 0; writes < whole.writes_.size(); ++writes) {
    // Many writes in a row only renew the hold on a lease.
    const std::string& next = whole.writes_[writes];
    if (!kinds.insert(next.substr(0, next.find(':'))).second && writes % 10 != 0) continue;
    SimulatedTakeover cluster;
    const auto before = cluster.ComparableObjects();
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, writes));
    ASSERT_TRUE(cluster.Run(StepsToUndo)) << writes;
    EXPECT_EQ(cluster.ComparableObjects(), before) << writes;
    ASSERT_TRUE(cluster.Run(StepsToTakeOver)) << writes;
    EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-controller_y_1") << writes;
  }
}

TEST(StepsToTakeOver, GoOnAfterEachWrite) {
  SimulatedTakeover whole;
  ASSERT_TRUE(whole.Run(StepsToTakeOver));
  for (std::size_t writes = 0; writes < whole.writes_.size(); writes += 3) {
    SimulatedTakeover cluster;
    EXPECT_FALSE(cluster.Run(StepsToTakeOver, writes));
    for (std::size_t i = 0; i < writes * 20; ++i) cluster.Pass();
    ASSERT_TRUE(cluster.Run(StepsToTakeOver)) << writes;
    EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "pintle-controller_y_1");
  }
}

TEST(StepsToTakeOver, GiveOneNodeAfterTheOtherToItsAgent) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  std::vector<std::string> of_nodes;
  for (const std::string& write : cluster.writes_) {
    if (write.starts_with("Node ")) of_nodes.push_back(write);
  }
  EXPECT_THAT(of_nodes, testing::ElementsAre("Node a: its label pintle.io/agent becomes awaited",
                                             "Node a: its label pintle.io/agent becomes acts",
                                             "Node b: its label pintle.io/agent becomes awaited",
                                             "Node b: its label pintle.io/agent becomes acts"));
}

TEST(StepsToTakeOver, LeaveTheDaemonsAloneUnlessTheyAreHandedOver) {
  SimulatedTakeover cluster;
  cluster.settings_.with_daemons = false;
  const auto daemon = cluster.objects_["DaemonSet/machine-config-daemon"];
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["DaemonSet/machine-config-daemon"], daemon);
  EXPECT_EQ(cluster.Labels(), "- - - ");
}

TEST(StepsToUndo, GiveTheNodesBackAlsoWithoutTheOptionForDaemons) {
  SimulatedTakeover cluster;
  const auto before = cluster.ComparableObjects();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.settings_.with_daemons = false;
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.Labels(), "- - - ");
  EXPECT_EQ(cluster.daemons_.size(), 3U);
  for (int i = 0; i < 300; ++i) cluster.Pass();
  EXPECT_EQ(cluster.ComparableObjects(), before);
}

TEST(StepsToUndo, GiveTheNodesBackAlsoIfTheDaemonSetIsGone) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.Labels(), "acts acts - ");
  cluster.objects_.erase("DaemonSet/machine-config-daemon");
  cluster.settings_.with_daemons = false;
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.Labels(), "- - - ");
}

TEST(StepsToUndo, DoNotWaitForReplicasThatWereKilled) {
  SimulatedTakeover cluster;
  const auto before = cluster.ComparableObjects();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.are_killed_ = true;
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.ComparableObjects(), before);
  EXPECT_EQ(cluster.HolderOf("machine-config"), "machine-config-operator-x_1");
  EXPECT_EQ(cluster.HolderOf("machine-config-controller"), "machine-config-controller-x_1");
}

TEST(StepsToUndo, WaitForAHolderThatGoesOnToRenewItsLease) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.are_elsewhere_ = true;
  EXPECT_FALSE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-controller"]["spec"]["replicas"], 0);
}

TEST(StepsToUndo, HaveNothingToDoWithoutATakeover) {
  SimulatedTakeover cluster;
  EXPECT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_TRUE(cluster.writes_.empty());
}

}  // namespace
}  // namespace pintle::controller
