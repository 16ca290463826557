// SPDX-License-Identifier: Apache-2.0
#include "pool/node_state.h"

#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

// These names are short so that the tables below are readable.
bool IsDone(const api::Node& node) { return NodeState(node).is_done(); }
bool IsUnavailable(const api::Node& node) { return NodeState(node).is_unavailable(); }
bool IsFailing(const api::Node& node) { return NodeState(node).is_failing(); }

api::Node WithCondition(const std::string& type, const std::string& status) {
  api::Node node;
  node.metadata.name = "a";
  node.status.conditions.push_back({.type = type, .status = status});
  return node;
}

TEST(WhyNotReady, NamesTheFirstConditionThatKeepsPodsOff) {
  EXPECT_EQ(WhyNotReady(WithCondition("Ready", "Unknown")), "node a is reporting NotReady=Unknown");
  EXPECT_EQ(WhyNotReady(WithCondition("DiskPressure", "True")), "node a is reporting OutOfDisk=True");
  EXPECT_EQ(WhyNotReady(WithCondition("NetworkUnavailable", "True")), "node a is reporting NetworkUnavailable=True");
  EXPECT_EQ(WhyNotReady(Cordoned(WithCondition("Ready", "True"))), "node a is reporting Unschedulable");
}

TEST(WhyNotReady, IsNulloptForOtherConditionsOrNone) {
  EXPECT_EQ(WhyNotReady(WithCondition("MemoryPressure", "True")), std::nullopt);
  EXPECT_EQ(WhyNotReady(WithCondition("DiskPressure", "False")), std::nullopt);
  EXPECT_EQ(WhyNotReady(api::Node()), std::nullopt);
}

TEST(NodeState, IsDoneWithItsDesiredConfigAndTheStateDone) {
  EXPECT_TRUE(IsDone(NodeAt("a", kNew)));
  EXPECT_FALSE(IsDone(NodeBetween("a", kOld, kNew, api::kStateDone)));
  EXPECT_FALSE(IsDone(NodeBetween("a", kNew, kNew, api::kStateWorking)));
  EXPECT_FALSE(IsDone(NodeBetween("a", "", "", api::kStateDone)));
  EXPECT_FALSE(IsDone(api::Node()));
}

TEST(NodeState, IsDoneOnlyWithItsDesiredImage) {
  const api::Node node = NodeAt("a", kNew);
  const api::Node with_desired = Annotated(node, api::kDesiredImageAnnotation, "image");
  EXPECT_FALSE(IsDone(with_desired));
  EXPECT_TRUE(IsDone(Annotated(with_desired, api::kCurrentImageAnnotation, "image")));
  EXPECT_FALSE(IsDone(Annotated(with_desired, api::kCurrentImageAnnotation, "older")));
  EXPECT_FALSE(IsDone(Annotated(node, api::kCurrentImageAnnotation, "image")));
  const api::Node empty = Annotated(node, api::kDesiredImageAnnotation, "");
  EXPECT_FALSE(IsDone(Annotated(empty, api::kCurrentImageAnnotation, "")));
}

TEST(NodeState, IsUnavailableFromTheNewDesiredConfigUntilItIsDone) {
  EXPECT_FALSE(IsUnavailable(NodeAt("a", kOld)));
  EXPECT_TRUE(IsUnavailable(NodeBetween("a", kOld, kNew, api::kStateDone)));
  EXPECT_TRUE(IsUnavailable(NodeBetween("a", kOld, kNew, api::kStateWorking)));
  EXPECT_TRUE(IsUnavailable(NodeBetween("a", kOld, kNew, api::kStateRebooting)));
  EXPECT_TRUE(IsUnavailable(NotReady(NodeAt("a", kNew))));
  EXPECT_TRUE(IsUnavailable(Cordoned(NodeAt("a", kNew))));
}

TEST(NodeState, IsReadyUncordonedIfNothingButACordonKeepsPodsOff) {
  EXPECT_TRUE(NodeState(Cordoned(NodeAt("a", kNew))).is_ready_uncordoned());
  EXPECT_FALSE(NodeState(Cordoned(NotReady(NodeAt("a", kNew)))).is_ready_uncordoned());
}

TEST(NodeState, IsAvailableForAnotherConfigAfterAFailure) {
  const api::Node node = NodeBetween("a", kOld, kNew, api::kStateDegraded);
  EXPECT_TRUE(IsFailing(node));
  EXPECT_TRUE(NodeState(node).is_degraded());
  EXPECT_FALSE(IsUnavailable(node));
  EXPECT_TRUE(IsFailing(NodeBetween("a", kOld, kNew, api::kStateUnreconcilable)));
  EXPECT_FALSE(IsFailing(NodeBetween("a", kOld, kOld, api::kStateDegraded)));
  EXPECT_TRUE(IsUnavailable(NodeBetween("a", kOld, kOld, api::kStateDegraded)));
}

}  // namespace
}  // namespace pintle::pool
