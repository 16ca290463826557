// SPDX-License-Identifier: Apache-2.0
#include "drain/node_changes.h"

#include <gtest/gtest.h>

#include "unit/expect.h"

namespace pintle::drain {
namespace {

const Request kDrain = {Verb::kDrain, "b"};
const Request kUncordon = {Verb::kUncordon, "b"};
const WallTime kNow = ValueOf(FromRfc3339("2026-11-21T20:00:00Z"));
const std::string kLastApplied(api::kLastAppliedDrainAnnotation);
const std::string kStarted(kStartedAnnotation);
const std::string kKept(kKeepCordonedAnnotation);
const std::string kClock = "2026-11-21T20:00:00Z drain-b";

api::Node NodeThatAsks(const Request& request, bool is_cordoned, api::Annotations more = {}) {
  api::Node node;
  node.metadata.annotations = std::move(more);
  node.metadata.annotations.emplace(api::kDesiredDrainAnnotation, request.ToText());
  node.spec.unschedulable = is_cordoned;
  return node;
}

json::Value Annotations(json::Value annotations) { return {{"metadata", {{"annotations", std::move(annotations)}}}}; }

TEST(ToCordon, CordonsAndStartsTheClockInOne) {
  json::Value wanted = Annotations({{kStarted, kClock}});
  wanted["spec"] = {{"unschedulable", true}};
  EXPECT_EQ(ToCordon(NodeThatAsks(kDrain, false), kDrain, kNow), wanted);
}

TEST(ToCordon, NotesTheCordonOfSomebodyElse) {
  EXPECT_EQ(ToCordon(NodeThatAsks(kDrain, true, {{kLastApplied, "uncordon-a"}}), kDrain, kNow),
            Annotations({{kStarted, kClock}, {kKept, "true"}}));
}

TEST(ToCordon, KnowsTheCordonOfAnEarlierDrain) {
  EXPECT_EQ(ToCordon(NodeThatAsks(kDrain, true, {{kLastApplied, "drain-a"}}), kDrain, kNow),
            Annotations({{kStarted, kClock}}));
  EXPECT_EQ(ToCordon(NodeThatAsks(kDrain, true, {{kStarted, "2026-11-21T19:00:00Z drain-a"}}), kDrain, kNow),
            Annotations({{kStarted, kClock}}));
}

TEST(ToCordon, LeavesTheClockOfItsOwnDrainRunning) {
  const json::Value patch = *ToCordon(
      NodeThatAsks(kDrain, false, {{kStarted, "2026-11-21T19:00:00Z drain-b"}, {kKept, "true"}}), kDrain, kNow);
  json::Value wanted = Annotations({{kKept, nullptr}});  // Whoever cordoned it has uncordoned it.
  wanted["spec"] = {{"unschedulable", true}};
  EXPECT_EQ(patch, wanted);
  EXPECT_EQ(ToCordon(NodeThatAsks(kDrain, true, {{kStarted, "2026-11-21T19:00:00Z drain-b"}}), kDrain, kNow),
            std::nullopt);
}

TEST(ToCordon, DoesNothingWhenItIsNoLongerAsked) {
  EXPECT_EQ(ToCordon(NodeThatAsks(kUncordon, false), kDrain, kNow), std::nullopt);
  EXPECT_EQ(ToCordon(NodeThatAsks(kDrain, false, {{kLastApplied, "drain-b"}}), kDrain, kNow), std::nullopt);
}

TEST(ToUncordon, LeavesTheCordonOfSomebodyElse) {
  EXPECT_EQ(ToUncordon(NodeThatAsks(kUncordon, true), kUncordon),
            (json::Value{{"spec", {{"unschedulable", nullptr}}}}));
  EXPECT_EQ(ToUncordon(NodeThatAsks(kUncordon, true, {{kKept, "true"}}), kUncordon), std::nullopt);
  EXPECT_EQ(ToUncordon(NodeThatAsks(kUncordon, false), kUncordon), std::nullopt);
  EXPECT_EQ(ToUncordon(NodeThatAsks(kDrain, true), kUncordon), std::nullopt);
}

TEST(ToAnswer, EndsTheClock) {
  EXPECT_EQ(ToAnswer(NodeThatAsks(kDrain, true, {{kStarted, kClock}, {kKept, "true"}}), kDrain),
            Annotations({{kLastApplied, "drain-b"}, {kStarted, nullptr}}));
}

TEST(ToAnswer, SaysNothingOfADrainWhoseCordonIsGone) {
  EXPECT_EQ(ToAnswer(NodeThatAsks(kDrain, false), kDrain), std::nullopt);
}

TEST(ToAnswer, ForgetsTheCordonOfSomebodyElseAfterTheUpdate) {
  EXPECT_EQ(ToAnswer(NodeThatAsks(kUncordon, true, {{kKept, "true"}}), kUncordon),
            Annotations({{kLastApplied, "uncordon-b"}, {kKept, nullptr}}));
  EXPECT_EQ(ToAnswer(NodeThatAsks(kUncordon, false), kUncordon), Annotations({{kLastApplied, "uncordon-b"}}));
}

}  // namespace
}  // namespace pintle::drain
