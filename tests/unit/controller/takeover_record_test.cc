// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_record.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "controller/takeover_steps.h"
#include "unit/controller/simulated_takeover.h"

namespace pintle::controller {
namespace {

TEST(TakeoverRecord, IsNotMadeAnewIfItIsLost) {
  SimulatedTakeover cluster;
  EXPECT_EQ(WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_), "");
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_), "");
  cluster.objects_.erase(SimulatedTakeover::kRecord);
  const std::string why = WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_);
  EXPECT_THAT(why, testing::HasSubstr("it is missing, and a takeover has left the node selector of the DaemonSet "
                                      "machine-config-server"));
  EXPECT_THAT(why, testing::HasSubstr("run `pintle-controller takeover undo`"));
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_FALSE(cluster.objects_.contains(SimulatedTakeover::kRecord));
}

TEST(TakeoverRecord, IsMissedIfATakeoverHasLeftAnything) {
  SimulatedTakeover whole;
  ASSERT_TRUE(whole.Run(StepsToTakeOver));
  // The first two writes are those of the record and of the override.
  for (const std::size_t writes : {std::size_t(3), std::size_t(5), whole.writes_.size()}) {
    SimulatedTakeover cluster;
    cluster.Run(StepsToTakeOver, writes);
    cluster.objects_.erase(SimulatedTakeover::kRecord);
    EXPECT_NE(WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_), "") << writes;
  }
}

TEST(TakeoverRecord, IsNotReplacedIfItCannotBeRead) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_[SimulatedTakeover::kRecord]["data"]["before.json"] = "{";
  EXPECT_THAT(WhyTakeoverMustNotBegin(cluster.State(), cluster.settings_),
              testing::HasSubstr("its entry before.json cannot be read"));
  EXPECT_FALSE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_[SimulatedTakeover::kRecord]["data"]["before.json"], "{");
}

TEST(TakeoverRecord, HasTheVerbOfTheRunThatBeganLast) {
  SimulatedTakeover cluster;
  const auto has_record = [&](SimulatedTakeover::Steps steps_of) {
    return steps_of(cluster.State(), cluster.settings_, cluster.now()).front().is_done;
  };
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_TRUE(has_record(StepsToTakeOver));
  EXPECT_FALSE(has_record(StepsToUndo));
  EXPECT_FALSE(cluster.Run(StepsToUndo, 2));
  EXPECT_FALSE(has_record(StepsToTakeOver));
  EXPECT_TRUE(has_record(StepsToUndo));
  // Somebody who has changed their mind goes back to Pintle.
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_FALSE(has_record(StepsToUndo));
  EXPECT_EQ(cluster.HolderOf("machine-config"), "pintle-controller_y_1");
}

TEST(TakeoverRecord, LetsTwoOfOurReplicasStartIfItLacksTheirNumber) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_[SimulatedTakeover::kRecord]["data"]["before.json"] = "{}";
  cluster.objects_["Deployment/pintle-controller"]["spec"]["replicas"] = 0;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(cluster.objects_["Deployment/pintle-controller"]["spec"]["replicas"], 2);
}

TEST(TakeoverRecord, GetsWhatOpenShiftInstallsIfItIsLostOrDamagedBeforeAnUndo) {
  for (const bool is_damaged : {false, true}) {
    SimulatedTakeover cluster;
    auto before = cluster.ComparableObjects();
    ASSERT_TRUE(cluster.Run(StepsToTakeOver));
    if (is_damaged) {
      cluster.objects_[SimulatedTakeover::kRecord]["data"]["before.json"] = "[]";
    } else {
      cluster.objects_.erase(SimulatedTakeover::kRecord);
    }
    ASSERT_TRUE(cluster.Run(StepsToUndo));
    auto after = cluster.ComparableObjects();
    EXPECT_EQ(after["DaemonSet/machine-config-daemon"]["spec"], nlohmann::json::parse(R"({"template": {"spec":
        {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
        [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}}}}})"));
    before.erase("DaemonSet/machine-config-daemon");
    after.erase("DaemonSet/machine-config-daemon");
    EXPECT_EQ(after, before) << is_damaged;
  }
}

TEST(TakeoverRecord, IsNotNeededForTheNumbersOfReplicas) {
  SimulatedTakeover cluster;
  cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"] = 0;
  for (int i = 0; i < 300; ++i) cluster.Pass();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_.erase(SimulatedTakeover::kRecord);
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-operator"]["spec"]["replicas"], 0);
  EXPECT_EQ(cluster.objects_["Deployment/machine-config-controller"]["spec"]["replicas"], 1);
}

}  // namespace
}  // namespace pintle::controller
