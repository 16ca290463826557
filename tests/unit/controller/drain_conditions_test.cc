// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pintle::controller {
namespace {

using testing::ElementsAre;

const api::Time kThen = {WallTime(std::chrono::seconds(100))};
const api::Time kDrainedAt = {WallTime(std::chrono::seconds(200))};

// Returns each condition as "Type=Status (Reason) Message".
std::vector<std::string> Words(const std::vector<api::Condition>& conditions) {
  std::vector<std::string> words;
  for (const api::Condition& condition : conditions) {
    words.push_back(condition.type + "=" + condition.status + " (" + condition.reason + ") " + condition.message);
  }
  return words;
}

std::vector<std::string> Conditions(const DrainMoment& moment) { return Words({moment.parent, moment.child}); }

TEST(DrainMoment, HasTheWordsOfTheMachineConfigOperator) {
  using namespace drain_moment;
  EXPECT_THAT(
      Conditions(Cordoned()),
      ElementsAre("UpdateExecuted=Unknown (Cordoned) Cordoned Node as part of update executed phase",
                  "Cordoned=True (UpdateExecutedCordoned) Cordoned node. The node is reporting Unschedulable = true"));
  EXPECT_THAT(
      Conditions(CordonFailed("why", false)),
      ElementsAre("UpdateExecuted=Unknown (Cordoned) Failed to Cordon Node as part of In progress update phase",
                  "Cordoned=Unknown (UpdateExecutedCordoned) Error: Failed to Cordon node. Error is why, The node "
                  "is reporting Unschedulable = false"));
  EXPECT_THAT(Conditions(Draining("drain-b", "uncordon-a")),
              ElementsAre("UpdateExecuted=Unknown (Drained) Draining Node as part of update executed phase",
                          "Drained=Unknown (UpdateExecutedDrained) Draining node. The drain will not be complete until "
                          "desired drainer drain-b matches current drainer uncordon-a"));
  EXPECT_THAT(
      Conditions(DrainFailed("why", "drain-b", "uncordon-a")),
      ElementsAre("UpdateExecuted=Unknown (Drained) Node Drain has not succeeded",
                  "Drained=Unknown (UpdateExecutedDrained) Error: Node Drain has not succeeded. Error is: why The "
                  "drain will not be complete until desired drainer drain-b matches current drainer uncordon-a"));
  EXPECT_THAT(Conditions(Drained("drain-b")),
              ElementsAre("UpdateExecuted=Unknown (Drained) Drained Node as part of update executed phase",
                          "Drained=True (UpdateExecutedDrained) Drained node. The drain is complete as the desired "
                          "drainer matches current drainer: drain-b"));
  EXPECT_THAT(Conditions(Uncordoned(false)),
              ElementsAre("UpdateComplete=True (Uncordoned) Uncordoned Node as part of completing upgrade phase",
                          "Uncordoned=True (UpdateCompleteUncordoned) UnCordoned node. The node is reporting "
                          "Unschedulable = false"));
  EXPECT_THAT(
      Conditions(UncordonFailed("why", true)),
      ElementsAre("UpdateComplete=Unknown (Uncordoned) Failed to Uncordon Node as part of completing upgrade phase",
                  "Uncordoned=Unknown (UpdateCompleteUncordoned) Error: Failed to UnCordon node. Error is: why "
                  "The node is reporting Unschedulable = true"));
}

// An error of a server or an admission webhook may contain any bytes.
TEST(DrainMoment, EscapesAndCutsTextsOfOthers) {
  const DrainMoment failed = drain_moment::DrainFailed("\x1b[2J\n\xff" + std::string(40'000, 'a'), "drain-b", "a");
  EXPECT_THAT(failed.child.message, testing::StartsWith("Error: Node Drain has not succeeded. Error is: "
                                                        "\\x1B[2J\n\\xFFaaa"));
  EXPECT_EQ(failed.child.message.size(), 32'768u);
}

TEST(NextConditions, KeepOtherConditionsAndUnchangedTimes) {
  const std::vector<api::Condition> known = {{"Updated", "False", kThen, "Updated", "soon"},
                                             {"Drained", "False", kThen, "NotYetOccurred", "not yet"}};
  const auto next = *NextConditions(known, drain_moment::Drained("drain-b"), kDrainedAt);
  ASSERT_EQ(next.size(), 3u);
  EXPECT_EQ(next[0].last_transition_time, kThen);
  EXPECT_EQ(next[1].status, "True");
  EXPECT_EQ(next[1].last_transition_time, kDrainedAt);
  EXPECT_EQ(next[2].type, "UpdateExecuted");
  EXPECT_EQ(NextConditions(next, drain_moment::Drained("drain-b"), kDrainedAt), std::nullopt);
}

TEST(NextConditions, RepeatAMomentAfterAnotherUpdate) {
  auto known = *NextConditions({}, drain_moment::Cordoned(), kThen);
  for (api::Condition& condition : known) condition.status = "False";
  const auto next = NextConditions(known, drain_moment::Cordoned(), kDrainedAt);
  ASSERT_TRUE(next);
  EXPECT_EQ((*next)[1].status, "True");
}

}  // namespace
}  // namespace pintle::controller
