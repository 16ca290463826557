// SPDX-License-Identifier: Apache-2.0
#include "drain/node_changes.h"

#include <gtest/gtest.h>

#include "support/expect.h"
#include "unit/drain/annotation_keys.h"

namespace pintle::drain {
namespace {

const Request kDrainRequest = {Verb::kDrain, "b"};
const Request kUncordonRequest = {Verb::kUncordon, "b"};
const WallTime kNow = ValueOf(FromRfc3339("2026-11-21T20:00:00Z"));
const std::string kKeepCordoned(kKeepCordonedAnnotation);
const std::string kStartText = "2026-11-21T20:00:00Z drain-b";

api::Node NodeThatAsks(const Request& request, bool is_cordoned, api::Annotations more = {}) {
  api::Node node;
  node.metadata.annotations = std::move(more);
  node.metadata.annotations.emplace(api::kDesiredDrainAnnotation, request.ToText());
  node.spec.unschedulable = is_cordoned;
  return node;
}

json::Value Annotations(json::Value annotations) { return {{"metadata", {{"annotations", std::move(annotations)}}}}; }

TEST(CordonPatch, CordonsAndSetsTheStartTimeTogether) {
  json::Value wanted = Annotations({{kStarted, kStartText}});
  wanted["spec"] = {{"unschedulable", true}};
  EXPECT_EQ(CordonPatch(NodeThatAsks(kDrainRequest, false), kDrainRequest, kNow), wanted);
}

TEST(CordonPatch, RecordsACordonBySomebodyElse) {
  EXPECT_EQ(CordonPatch(NodeThatAsks(kDrainRequest, true, {{kLastApplied, "uncordon-a"}}), kDrainRequest, kNow),
            Annotations({{kStarted, kStartText}, {kKeepCordoned, "true"}}));
}

TEST(CordonPatch, RecognisesTheCordonOfAnEarlierDrain) {
  EXPECT_EQ(CordonPatch(NodeThatAsks(kDrainRequest, true, {{kLastApplied, "drain-a"}}), kDrainRequest, kNow),
            Annotations({{kStarted, kStartText}}));
  EXPECT_EQ(
      CordonPatch(NodeThatAsks(kDrainRequest, true, {{kStarted, "2026-11-21T19:00:00Z drain-a"}}), kDrainRequest, kNow),
      Annotations({{kStarted, kStartText}}));
}

TEST(CordonPatch, KeepsTheStartTimeOfItsOwnDrain) {
  const json::Value patch = *CordonPatch(
      NodeThatAsks(kDrainRequest, false, {{kStarted, "2026-11-21T19:00:00Z drain-b"}, {kKeepCordoned, "true"}}),
      kDrainRequest, kNow);
  json::Value wanted = Annotations({{kKeepCordoned, nullptr}});  // The person who cordoned the node has uncordoned it.
  wanted["spec"] = {{"unschedulable", true}};
  EXPECT_EQ(patch, wanted);
  EXPECT_EQ(
      CordonPatch(NodeThatAsks(kDrainRequest, true, {{kStarted, "2026-11-21T19:00:00Z drain-b"}}), kDrainRequest, kNow),
      std::nullopt);
}

TEST(CordonPatch, DoesNothingAfterTheRequestIsWithdrawn) {
  EXPECT_EQ(CordonPatch(NodeThatAsks(kUncordonRequest, false), kDrainRequest, kNow), std::nullopt);
  EXPECT_EQ(CordonPatch(NodeThatAsks(kDrainRequest, false, {{kLastApplied, "drain-b"}}), kDrainRequest, kNow),
            std::nullopt);
}

TEST(UncordonPatch, KeepsTheCordonOfSomebodyElse) {
  EXPECT_EQ(UncordonPatch(NodeThatAsks(kUncordonRequest, true), kUncordonRequest),
            (json::Value{{"spec", {{"unschedulable", nullptr}}}}));
  EXPECT_EQ(UncordonPatch(NodeThatAsks(kUncordonRequest, true, {{kKeepCordoned, "true"}}), kUncordonRequest),
            std::nullopt);
  EXPECT_EQ(UncordonPatch(NodeThatAsks(kUncordonRequest, false), kUncordonRequest), std::nullopt);
  EXPECT_EQ(UncordonPatch(NodeThatAsks(kDrainRequest, true), kUncordonRequest), std::nullopt);
}

TEST(AnswerPatch, RemovesTheStartTime) {
  EXPECT_EQ(
      AnswerPatch(NodeThatAsks(kDrainRequest, true, {{kStarted, kStartText}, {kKeepCordoned, "true"}}), kDrainRequest),
      Annotations({{kLastApplied, "drain-b"}, {kStarted, nullptr}}));
}

TEST(AnswerPatch, DoesNotAnswerADrainWhoseCordonIsGone) {
  EXPECT_EQ(AnswerPatch(NodeThatAsks(kDrainRequest, false), kDrainRequest), std::nullopt);
}

TEST(AnswerPatch, ForgetsTheCordonOfSomebodyElseAfterTheUpdate) {
  EXPECT_EQ(AnswerPatch(NodeThatAsks(kUncordonRequest, true, {{kKeepCordoned, "true"}}), kUncordonRequest),
            Annotations({{kLastApplied, "uncordon-b"}, {kKeepCordoned, nullptr}}));
  EXPECT_EQ(AnswerPatch(NodeThatAsks(kUncordonRequest, false), kUncordonRequest),
            Annotations({{kLastApplied, "uncordon-b"}}));
}

}  // namespace
}  // namespace pintle::drain
