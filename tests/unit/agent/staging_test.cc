// SPDX-License-Identifier: Apache-2.0
#include "agent/staging.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "support/expect.h"

namespace pintle::agent {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

const Goal kPresent{"rendered-worker-1"};
const Goal kLater{"rendered-worker-2"};
const Goal kOther{"rendered-worker-3", "registry/os@sha256:3"};

struct StagingRow {
  std::string name;
  Staging staging;
  State state;
  StagingWork work;
  StagingReport::How report;

  friend void PrintTo(const StagingRow& row, std::ostream* out) { *out << row.name; }
};

State SettledAt(const Goal& goal) { return {.phase = phase::Settled{goal}, .wanted = goal}; }
State Checking() { return {.phase = phase::Checking{.goal = kPresent}, .wanted = kPresent}; }
State FailingToReach(const Goal& goal, phase::Degraded::Retry retry = phase::Degraded::Retry::kLook) {
  return {.phase = phase::Degraded{.text = "there is too little space", .retry = retry, .goal = goal}, .wanted = goal};
}
State DegradedNow() { return {.phase = phase::Degraded{.text = "/etc/motd differs"}, .wanted = kPresent}; }
State Rejecting(const Goal& goal) {
  State state = SettledAt(kPresent);
  state.rejected = Rejection{goal, "kubelet.service is not active"};
  return state;
}

Staging Wanting(const Goal& goal) { return {.is_wanted_known = true, .wanted = goal, .is_tidy = true}; }
Staging WantingNothing() { return {.is_wanted_known = true, .is_tidy = true}; }
Staging Untidy(Staging staging) {
  staging.is_tidy = false;
  return staging;
}
Staging Attempting(Staging staging, const Goal& goal) {
  staging.under_way = goal;
  return staging;
}
Staging WithOutcome(Staging staging, const Goal& goal, std::string why_not = "") {
  staging.outcome = StagingOutcome{goal, std::move(why_not)};
  return staging;
}
Staging Pausing(Staging staging) {
  staging.is_due = false;
  return staging;
}
Staging WithImage(Staging staging, const Goal& goal) {
  staging.fetched = goal;
  return staging;
}

std::vector<StagingRow> StagingRows() {
  return {
      // Attempts.
      {"nothing is done before the source has reported what it wants", WithImage({}, kOther), SettledAt(kPresent),
       StagingWork::kNothing, StagingReport::How::kNothing},
      {"a wanted goal is staged", Wanting(kLater), SettledAt(kPresent), StagingWork::kStage,
       StagingReport::How::kUnderWay},
      {"nothing is staged during a look", Wanting(kLater), Checking(), StagingWork::kNothing,
       StagingReport::How::kUnderWay},
      {"nothing is staged twice at the same time", Attempting(Wanting(kLater), kLater), SettledAt(kPresent),
       StagingWork::kNothing, StagingReport::How::kUnderWay},
      {"an attempt goes on during a look", Attempting(Wanting(kLater), kLater), Checking(), StagingWork::kNothing,
       StagingReport::How::kUnderWay},
      {"a staged goal is not staged again", WithOutcome(Wanting(kLater), kLater), SettledAt(kPresent),
       StagingWork::kNothing, StagingReport::How::kStaged},
      {"a failure is reported and followed by a pause", Pausing(WithOutcome(Wanting(kLater), kLater, "no space")),
       SettledAt(kPresent), StagingWork::kNothing, StagingReport::How::kUnstageable},
      {"another attempt follows the pause, and the failure stays reported",
       WithOutcome(Wanting(kLater), kLater, "no space"), SettledAt(kPresent), StagingWork::kStage,
       StagingReport::How::kUnstageable},
      {"the outcome for another goal does not count", WithOutcome(Wanting(kOther), kLater), SettledAt(kPresent),
       StagingWork::kStage, StagingReport::How::kUnderWay},

      // These facts end an attempt.
      {"another wanted goal stops the attempt", Attempting(Wanting(kOther), kLater), SettledAt(kPresent),
       StagingWork::kStop, StagingReport::How::kUnderWay},
      {"an attempt stops if nothing is wanted any more", Attempting(WantingNothing(), kLater), SettledAt(kPresent),
       StagingWork::kStop, StagingReport::How::kNothing},
      {"an attempt stops when the machine is to have the goal now",
       Attempting(Wanting(kLater), kLater),
       {.phase = phase::Checking{.goal = kLater}, .wanted = kLater},
       StagingWork::kStop,
       StagingReport::How::kNothing},
      {"a drain stops the attempt",
       Attempting(Wanting(kLater), kLater),
       {.phase = phase::Draining{.goal = kOther}, .wanted = kOther},
       StagingWork::kStop,
       StagingReport::How::kUnderWay},
      {"a change stops the attempt",
       Attempting(Wanting(kLater), kLater),
       {.phase = phase::Changing{.goal = kOther}, .wanted = kOther},
       StagingWork::kStop,
       StagingReport::How::kUnderWay},

      // Nodes that could not make the change.
      {"a degraded node reports why it stages nothing", Wanting(kLater), DegradedNow(), StagingWork::kNothing,
       StagingReport::How::kUnstageable},
      {"a rejected goal is not staged", Wanting(kLater), Rejecting(kLater), StagingWork::kNothing,
       StagingReport::How::kUnstageable},
      {"another goal than the rejected one is staged", Wanting(kLater), Rejecting(kOther), StagingWork::kStage,
       StagingReport::How::kUnderWay},

      // Images.
      {"the image of a goal stays while the goal is wanted", WithImage(WithOutcome(Wanting(kOther), kOther), kOther),
       SettledAt(kPresent), StagingWork::kNothing, StagingReport::How::kStaged},
      {"an image is removed if its goal is not wanted any more", WithImage(WantingNothing(), kOther),
       SettledAt(kPresent), StagingWork::kCleanUp, StagingReport::How::kNothing},
      {"an image is removed before that of another goal is fetched", WithImage(Wanting(kLater), kOther),
       SettledAt(kPresent), StagingWork::kCleanUp, StagingReport::How::kUnderWay},
      {"an image is not removed during the change that uses it",
       WithImage(WantingNothing(), kOther),
       {.phase = phase::Changing{.goal = kOther}, .wanted = kOther},
       StagingWork::kNothing,
       StagingReport::How::kNothing},
      {"an image that takes the space of a failed change is removed", WithImage(WantingNothing(), kOther),
       FailingToReach(kLater), StagingWork::kCleanUp, StagingReport::How::kNothing},
      {"an image is removed during the drain for another goal",
       WithImage(WantingNothing(), kOther),
       {.phase = phase::Draining{.goal = kLater}, .wanted = kLater},
       StagingWork::kCleanUp,
       StagingReport::How::kNothing},
      {"an image that a failed change needs again stays", WithImage(WantingNothing(), kOther), FailingToReach(kOther),
       StagingWork::kNothing, StagingReport::How::kNothing},
      {"an image stays during the drain for its goal",
       WithImage(WantingNothing(), kOther),
       {.phase = phase::Draining{.goal = kOther}, .wanted = kOther},
       StagingWork::kNothing,
       StagingReport::How::kNothing},
      {"no image is removed while a change has to be recovered", WithImage(WantingNothing(), kOther),
       FailingToReach(kLater, phase::Degraded::Retry::kRecover), StagingWork::kNothing, StagingReport::How::kNothing},
      {"the image of a goal that is wanted later stays on a degraded node", WithImage(Wanting(kOther), kOther),
       FailingToReach(kLater), StagingWork::kNothing, StagingReport::How::kUnstageable},
      {"the record of an image is removed when a deployment has the image", WithImage(WantingNothing(), kOther),
       SettledAt(kOther), StagingWork::kForget, StagingReport::How::kNothing},
      {"the images of earlier changes are removed when the machine has its goal", Untidy(WantingNothing()),
       SettledAt(kPresent), StagingWork::kTidy, StagingReport::How::kNothing},
      {"the images of earlier changes are removed before another one is fetched", Untidy(Wanting(kLater)),
       SettledAt(kPresent), StagingWork::kTidy, StagingReport::How::kUnderWay},
      {"the images of earlier changes stay while that of a later change is there",
       Untidy(WithImage(Wanting(kOther), kOther)), SettledAt(kPresent), StagingWork::kStage,
       StagingReport::How::kUnderWay},
      {"no images are removed during a look", Untidy(WantingNothing()), Checking(), StagingWork::kNothing,
       StagingReport::How::kNothing},
      {"a removal that has failed is followed by a pause", Pausing(WithImage(WantingNothing(), kOther)),
       SettledAt(kPresent), StagingWork::kNothing, StagingReport::How::kNothing},
  };
}

class DecidingAboutStaging : public testing::TestWithParam<StagingRow> {};

TEST_P(DecidingAboutStaging, ChoosesTheWorkAndTheReportOfTheTable) {
  const StagingRow& row = GetParam();
  const StagingDecision decision = DecideStaging(row.staging, row.state);
  EXPECT_EQ(decision.work, row.work);
  EXPECT_EQ(decision.report.how, row.report);
}

INSTANTIATE_TEST_SUITE_P(StagingRows, DecidingAboutStaging, testing::ValuesIn(StagingRows()));

TEST(Staging, ReportsReasonsWithRemedies) {
  EXPECT_THAT(DecideStaging(Wanting(kLater), DegradedNow()).report.why,
              testing::AllOf(HasSubstr("/etc/motd differs"), HasSubstr("pintle status")));
  EXPECT_THAT(DecideStaging(Wanting(kLater), Rejecting(kLater)).report.why,
              testing::AllOf(HasSubstr("kubelet.service is not active"), HasSubstr("pintle retry")));
}

TEST(Staging, PausesLongerAfterEachFailureUpToALimit) {
  EXPECT_EQ(StagingPause(1), seconds(10));
  EXPECT_EQ(StagingPause(2), seconds(20));
  EXPECT_EQ(StagingPause(5), seconds(160));
  EXPECT_EQ(StagingPause(6), seconds(300));
  EXPECT_EQ(StagingPause(1000), seconds(300));
}

TEST(Staging, AsksLessOftenWhileACommandHoldsTheClaimForLong) {
  EXPECT_EQ(BusyPause(1), seconds(1));
  EXPECT_EQ(BusyPause(2), seconds(2));
  EXPECT_EQ(BusyPause(6), seconds(30));
  EXPECT_EQ(BusyPause(1000), seconds(30));
}

TEST(Staging, RefusesAChangeThatTheMachineCouldNotMakeNow) {
  const auto why = [](Outlook outlook) { return MessageOf(ChangeToStage({.outlook = std::move(outlook)})); };
  EXPECT_THAT(why({.is_cut_short = true}), HasSubstr("pintle recover"));
  EXPECT_EQ(why({.waits = "reboot it"}), "reboot it");
  EXPECT_EQ(why({.drift = "/etc/motd differs"}), "/etc/motd differs");
  EXPECT_EQ(why({.why_unreconcilable = "disks differ"}), "disks differ");
  EXPECT_THAT(why({.is_outdated = true}), HasSubstr("someone else"));
  EXPECT_EQ(MessageOf(ChangeToStage({.failure = Error(ErrorKind::kInvalid, "no such action")})), "no such action");
  EXPECT_EQ(ValueOf(ChangeToStage({.outlook = {.has_goal = true}})), nullptr);
}

TEST(Staging, ReadsAndWritesTargetsAsTheControllerDoes) {
  EXPECT_EQ(TargetText(kLater), "rendered-worker-2");
  EXPECT_EQ(TargetText(kOther), "rendered-worker-3 registry/os@sha256:3");
  for (const Goal& goal : {kLater, kOther}) EXPECT_EQ(GoalFromTarget(TargetText(goal)), goal);
}

}  // namespace
}  // namespace pintle::agent
