// SPDX-License-Identifier: Apache-2.0
#include "drain/protocol.h"

#include <gtest/gtest.h>

#include "support/expect.h"
#include "unit/drain/annotation_keys.h"

namespace pintle::drain {
namespace {

api::Node NodeWith(api::Annotations annotations) {
  api::Node node;
  node.metadata.annotations = std::move(annotations);
  return node;
}

const std::string kDesired(api::kDesiredDrainAnnotation);

TEST(Request, IsWrittenAsItIsRead) {
  EXPECT_EQ(ValueOf(ParseRequest("drain-rendered-worker-2")), (Request{Verb::kDrain, "rendered-worker-2"}));
  EXPECT_EQ(ValueOf(ParseRequest("uncordon-a-b")), (Request{Verb::kUncordon, "a-b"}));
  EXPECT_EQ((Request{Verb::kDrain, "a-b"}).ToText(), "drain-a-b");
  EXPECT_EQ((Request{Verb::kUncordon, ""}).ToText(), "uncordon-");
}

TEST(Request, NamesAnUnknownVerb) {
  EXPECT_EQ(MessageOf(ParseRequest("reboot-now-please")), "non-recognized drain verb detected reboot");
  EXPECT_EQ(MessageOf(ParseRequest("")), "non-recognized drain verb detected ");
}

TEST(DrainState, HasNoRequestIfItIsAnsweredOrWasNeverMade) {
  EXPECT_EQ(DrainStateOf(NodeWith({})), DrainState());
  EXPECT_EQ(DrainStateOf(NodeWith({{kDesired, "drain-a"}, {kLastApplied, "drain-a"}})), DrainState());
  EXPECT_EQ(DrainStateOf(NodeWith({{kDesired, ""}})), DrainState());
}

TEST(DrainState, HasTheStartTimeOfTheRequestedDrain) {
  const DrainState state = DrainStateOf(NodeWith({{kDesired, "drain-a"}, {kStarted, "2026-11-21T20:00:00Z drain-a"}}));
  EXPECT_EQ(state.asked, (Request{Verb::kDrain, "a"}));
  EXPECT_EQ(state.started, ValueOf(FromRfc3339("2026-11-21T20:00:00Z")));
}

TEST(DrainState, HasNoStartTimeOfAnotherDrainAndNoMalformedOne) {
  for (const char* text : {"2026-11-21T20:00:00Z drain-b", "yesterday drain-a", "2026-11-21T20:00:00Z", ""}) {
    EXPECT_EQ(DrainStateOf(NodeWith({{kDesired, "drain-a"}, {kStarted, text}})).started, std::nullopt) << text;
  }
}

TEST(DrainState, ReadsTheStartTimeThatIsWritten) {
  const Request request = {Verb::kDrain, "a"};
  const WallTime when = ValueOf(FromRfc3339("2026-11-21T20:00:00Z"));
  EXPECT_EQ(DrainStateOf(NodeWith({{kDesired, "drain-a"}, {kStarted, StartedText(when, request)}})).started, when);
}

TEST(DrainState, HasTheErrorOfAMalformedRequest) {
  const DrainState state = DrainStateOf(NodeWith({{kDesired, "stop-a"}}));
  EXPECT_EQ(state.asked, std::nullopt);
  EXPECT_EQ(state.misunderstood, "non-recognized drain verb detected stop");
}

}  // namespace
}  // namespace pintle::drain
