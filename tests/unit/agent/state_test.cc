// SPDX-License-Identifier: Apache-2.0
#include "agent/state.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace pintle::agent {
namespace {

const Goal kOld{"rendered-worker-1"};
const Goal kNew{"rendered-worker-2"};
const Goal kNewer{"rendered-worker-3"};

template <typename E>
const E* Find(const std::vector<Effect>& effects) {
  for (const Effect& effect : effects) {
    if (const auto* found = std::get_if<E>(&effect)) return found;
  }
  return nullptr;
}

// The desired config is kNew in each of these states, except when waiting.
std::map<std::string, State> States() {
  using Retry = phase::Degraded::Retry;
  const auto at = [](Phase phase) { return State{std::move(phase), kNew, std::nullopt}; };
  return {
      {"recovering", at(phase::Recovering{})},
      {"recovering: the goal is rejected", State{phase::Recovering{}, kNew, Rejection{kNew, "it did not boot"}}},
      {"recovering: after a change that failed", at(phase::Recovering{0, FailedChange{kNew, "no space", 1}})},
      {"waiting", State{phase::Waiting{}, std::nullopt, std::nullopt}},
      {"checking", at(phase::Checking{kNew})},
      {"draining", at(phase::Draining{kNew})},
      {"changing", at(phase::Changing{kNew})},
      {"rebooting", at(phase::Rebooting{})},
      {"confirming", at(phase::Confirming{})},
      {"settled", at(phase::Settled{kNew})},
      {"degraded", at(phase::Degraded{Fault::kFailed, "no space", Retry::kLook, kNew, 1})},
  };
}

std::map<std::string, Event> Events() {
  using How = happened::Recovered::How;
  return {
      {"wanted", happened::Wanted{kNew}},
      {"wanted: another", happened::Wanted{kNewer}},
      {"rejection read", happened::RejectionRead{Rejection{kOld, "it did not boot"}}},
      {"recovered: ended", happened::Recovered{How::kEnded, kNew}},
      {"recovered: undone", happened::Recovered{How::kUndone, kNew}},
      {"recovered: to be confirmed", happened::Recovered{How::kToBeConfirmed, kNew}},
      {"recovered: reboot needed", happened::Recovered{How::kRebootNeeded, kNew}},
      {"looked: a change cut short", happened::Looked{kNew, {.is_cut_short = true, .has_goal = true}}},
      {"looked: a change that waits", happened::Looked{kNew, {.waits = "for a reboot", .has_goal = true}}},
      {"looked: there", happened::Looked{kNew, {.has_goal = true}}},
      {"looked: another config meanwhile", happened::Looked{kNew, {.is_outdated = true}}},
      {"looked: drift", happened::Looked{kNew, {.drift = "content mismatch"}}},
      {"looked: unreconcilable", happened::Looked{kNew, {.why_unreconcilable = "disks"}}},
      {"looked: work", happened::Looked{kNew, {}}},
      {"looked: work with a drain", happened::Looked{kNew, {.drains = true}}},
      {"drained", happened::Drained{}},
      {"changed", happened::Changed{false}},
      {"changed: reboot needed", happened::Changed{true}},
      {"well", happened::Well{}},
      {"not yet well", happened::NotYetWell{std::chrono::seconds(1)}},
      {"unwell", happened::Unwell{"kubelet.service is failed"}},
      {"failed", happened::Failed{"no space"}},
      {"not undone", happened::NotUndone{"no space"}},
      {"noticed", happened::Noticed{}},
      {"asked", happened::Asked{}},
      {"retry due", happened::RetryDue{}},
      {"pardoned", happened::Pardoned{}},
      {"unusable", happened::Unusable{"a file is broken"}},
      {"unusable: the look is held", happened::Unusable{.why = "a gate has halted the change", .is_look_held = true}},
  };
}

// Returns the cells of the table in ARCHITECTURE.md, by row.
std::vector<std::vector<std::string>> Graph() {
  std::ifstream file(ARCHITECTURE_MD);
  std::vector<std::vector<std::string>> rows;
  bool is_inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) is_inside = line == "## The agent's states";
    if (!is_inside || !line.starts_with("| ") || line.starts_with("| phase")) continue;
    std::vector<std::string> cells;
    std::istringstream stream(line.substr(2));
    for (std::string cell; std::getline(stream, cell, '|');) {
      const auto end = cell.find_last_not_of(' ');
      if (end == std::string::npos) continue;
      cell.resize(end + 1);
      cells.push_back(cell.substr(cell.find_first_not_of(' ')));
    }
    rows.push_back(cells);
  }
  return rows;
}

TEST(State, EveryPairOfPhaseAndEventMatchesTheGraph) {
  std::map<std::pair<std::string, std::string>, std::string> graph;
  for (const auto& row : Graph()) {
    ASSERT_EQ(row.size(), 3u);
    EXPECT_TRUE(graph.emplace(std::pair(row[0], row[1]), row[2]).second) << row[0] << ", " << row[1];
  }
  // ARCHITECTURE.md leaves this pair out, because it does not occur: an agent that waits has no earlier goal.
  graph.emplace(std::pair("waiting", "wanted: another"), "checking");
  // In these phases no look is under way.
  for (const char* phase : {"waiting", "settled"}) {
    graph.emplace(std::pair(phase, "unusable: the look is held"), phase);
  }
  std::set<std::string> used;
  for (const auto& [phase, state] : States()) {
    ASSERT_EQ(NameOf(state.phase), phase.substr(0, phase.find(':')));
    for (const auto& [event_name, event] : Events()) {
      const auto next = Advance(state, event);
      const auto expected = graph.find({phase, event_name});
      if (expected == graph.end()) {
        EXPECT_TRUE(!next || (next->next.phase.index() == state.phase.index() && next->effects.empty()))
            << phase << ", " << event_name << " -> " << NameOf(next->next.phase);
        continue;
      }
      ASSERT_TRUE(next) << phase << ", " << event_name;
      EXPECT_EQ(NameOf(next->next.phase), expected->second) << phase << ", " << event_name;
      used.insert(phase + event_name);
    }
  }
  EXPECT_EQ(used.size(), graph.size()) << "the graph has a pair that does not exist";
}

TEST(State, ADrainAndAnotherLookPrecedeTheChange) {
  State state{phase::Checking{kNew}, kNew, std::nullopt};
  auto next = Advance(state, happened::Looked{kNew, {.drains = true}});
  ASSERT_TRUE(next);
  // The work is reported before it begins.
  ASSERT_EQ(next->effects.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<effect::ReportWork>(next->effects[0]));
  EXPECT_TRUE(std::holds_alternative<effect::AskForDrain>(next->effects[1]));
  next = Advance(next->next, happened::Drained{});
  ASSERT_TRUE(next && Find<effect::Look>(next->effects));
  next = Advance(next->next, happened::Looked{kNew, {.drains = true}});
  ASSERT_TRUE(next);
  EXPECT_TRUE(Find<effect::Change>(next->effects));
  EXPECT_FALSE(Find<effect::AskForDrain>(next->effects));
}

TEST(State, AFindingAfterTheDrainStopsTheChange) {
  const State state{phase::Checking{.goal = kNew, .is_drained = true}, kNew, std::nullopt};
  const auto next = Advance(state, happened::Looked{kNew, {.drift = "content mismatch"}});
  ASSERT_TRUE(next);
  EXPECT_FALSE(Find<effect::Change>(next->effects));
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->fault, Fault::kDrift);
}

TEST(State, ANewGoalReplacesAGoalThatFailsOrWaits) {
  for (const Phase& phase : {Phase(phase::Draining{kNew}), Phase(phase::Checking{kNew}),
                             Phase(phase::Degraded{Fault::kFailed, "", phase::Degraded::Retry::kLook, kNew, 3})}) {
    const auto next = Advance({phase, kNew, std::nullopt}, happened::Wanted{kNewer});
    ASSERT_TRUE(next);
    EXPECT_EQ(Find<effect::Look>(next->effects)->goal, kNewer);
  }
  // The result of a look at a goal that is not wanted any more is ignored.
  EXPECT_FALSE(Advance({phase::Checking{kNewer}, kNewer, std::nullopt}, happened::Looked{kNew, {.has_goal = true}}));
}

TEST(State, ANewGoalWaitsForTheEndOfAChange) {
  const auto kept = Advance({phase::Changing{kNew}, kNew, std::nullopt}, happened::Wanted{kNewer});
  ASSERT_TRUE(kept && !Find<effect::Look>(kept->effects));
  auto next = Advance(kept->next, happened::Changed{false});
  ASSERT_TRUE(next);
  EXPECT_EQ(Find<effect::Look>(next->effects)->goal, kNewer);
  EXPECT_FALSE(Find<effect::ReportSettled>(next->effects));
  next = Advance(kept->next, happened::Failed{"no space"});
  ASSERT_TRUE(next);
  EXPECT_EQ(Find<effect::Look>(next->effects)->goal, kNewer);
}

TEST(State, AChangeNoticedDuringALookBeginsNoOtherLookAndTheResultIsReported) {
  State state{phase::Checking{kNew}, kNew, std::nullopt};
  for (int edits = 0; edits < 100; ++edits) {
    const auto noticed = Advance(state, happened::Noticed{});
    ASSERT_TRUE(noticed && noticed->effects.empty());
    state = noticed->next;
  }
  for (const Outlook& outlook : {Outlook{.drift = "content mismatch"}, Outlook{.has_goal = true}}) {
    const auto next = Advance(state, happened::Looked{kNew, outlook});
    ASSERT_TRUE(next);
    EXPECT_EQ(NameOf(next->next.phase), outlook.has_goal ? "settled" : "degraded");
    EXPECT_EQ(Find<effect::ReportFault>(next->effects) != nullptr, !outlook.has_goal);
    // One more look follows, when it is due.
    EXPECT_TRUE(Find<effect::LookAgainSoon>(next->effects));
    EXPECT_FALSE(Find<effect::Look>(next->effects));
    const auto again = Advance(next->next, happened::Noticed{});
    ASSERT_TRUE(again && Find<effect::Look>(again->effects));
    const auto last = Advance(again->next, happened::Looked{kNew, outlook});
    ASSERT_TRUE(last);
    EXPECT_FALSE(Find<effect::LookAgainSoon>(last->effects));
  }
  const auto failed = Advance(state, happened::Failed{"the disk is full"});
  ASSERT_TRUE(failed);
  EXPECT_TRUE(Find<effect::LookAgainSoon>(failed->effects));
}

TEST(State, AChangeBeginsAfterTheSecondLookEvenIfSomethingIsNoticed) {
  State state{phase::Checking{.goal = kNew, .is_drained = true, .attempts = 2}, kNew, std::nullopt};
  const auto noticed_and_looked = [&] {
    state = Advance(state, happened::Noticed{})->next;
    return *Advance(state, happened::Looked{kNew, {.drains = true}});
  };
  const Transition first = noticed_and_looked();
  ASSERT_EQ(first.effects.size(), 1u);
  EXPECT_EQ(Find<effect::Look>(first.effects)->goal, kNew);
  state = first.next;
  const Transition second = noticed_and_looked();
  EXPECT_TRUE(Find<effect::Change>(second.effects));
  EXPECT_EQ(std::get<phase::Changing>(second.next.phase).attempts, 2);
}

TEST(State, ANewerGoalStopsTheFetchOfTheChange) {
  const State state{phase::Changing{kNew}, kNew, std::nullopt};
  const auto newer = Advance(state, happened::Wanted{kNewer});
  ASSERT_TRUE(newer && Find<effect::StopFetching>(newer->effects));
  EXPECT_TRUE(std::holds_alternative<phase::Changing>(newer->next.phase));
  const auto failed = Advance(newer->next, happened::Failed{"it was cancelled"});
  ASSERT_TRUE(failed && Find<effect::Look>(failed->effects));
  EXPECT_EQ(Find<effect::Look>(failed->effects)->goal, kNewer);
  EXPECT_FALSE(Find<effect::ReportFault>(failed->effects));
  const auto same = Advance(state, happened::Wanted{kNew});
  EXPECT_FALSE(same && Find<effect::StopFetching>(same->effects));
}

TEST(State, AGoalThatIsWantedAgainWhileItsFetchIsStoppedIsTriedAgainAtOnce) {
  auto next = Advance({phase::Changing{kNew, 2}, kNew, std::nullopt}, happened::Wanted{kNewer});
  ASSERT_TRUE(next && Find<effect::StopFetching>(next->effects));
  next = Advance(next->next, happened::Wanted{kNew});
  ASSERT_TRUE(next);
  next = Advance(next->next, happened::Failed{"it was cancelled"});
  ASSERT_TRUE(next && Find<effect::Look>(next->effects));
  EXPECT_EQ(Find<effect::Look>(next->effects)->goal, kNew);
  EXPECT_EQ(std::get<phase::Checking>(next->next.phase).attempts, 2);
  EXPECT_FALSE(Find<effect::ReportFault>(next->effects));
}

TEST(State, ARejectedGoalIsNotTriedAgain) {
  auto next = Advance({phase::Confirming{}, kNew, std::nullopt}, happened::Unwell{"kubelet.service is failed"});
  ASSERT_TRUE(next && Find<effect::GoBack>(next->effects));
  using How = happened::Recovered::How;
  // The undo of the change has stored the rejection.
  next = Advance(next->next, happened::RejectionRead{Rejection{kNew, "kubelet.service is failed"}});
  ASSERT_TRUE(next);
  next = Advance(next->next, happened::Recovered{How::kRebootNeeded, kNew});
  ASSERT_TRUE(next && Find<effect::Reboot>(next->effects));

  // The machine has rebooted.
  const State after{phase::Recovering{}, kNew, next->next.rejected};
  next = Advance(after, happened::Recovered{How::kEnded});
  ASSERT_TRUE(next);
  EXPECT_FALSE(Find<effect::Look>(next->effects));
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->text, "kubelet.service is failed");
  EXPECT_FALSE(Advance(next->next, happened::RetryDue{}));

  // Another goal is tried at once.  The rejected goal is tried only if a person asks for it.
  const auto with_old_goal = Advance(next->next, happened::Wanted{kOld});
  ASSERT_TRUE(with_old_goal && Find<effect::Look>(with_old_goal->effects));
  const auto pardoned = Advance(next->next, happened::Pardoned{});
  ASSERT_TRUE(pardoned);
  EXPECT_FALSE(pardoned->next.rejected);
  EXPECT_EQ(Find<effect::Look>(pardoned->effects)->goal, kNew);
}

// In any phase, the rejected goal may be the one that the source wants to be staged, or the next one that it names.
TEST(State, ARejectionEndsInAnyPhaseIfAPersonAsksForIt) {
  const State settled{phase::Settled{kOld}, kOld, Rejection{kNew, "kubelet.service is failed"}};
  auto next = Advance(settled, happened::Pardoned{});
  ASSERT_TRUE(next && Find<effect::ForgetRejection>(next->effects));
  EXPECT_FALSE(next->next.rejected);
  EXPECT_TRUE(std::holds_alternative<phase::Settled>(next->next.phase));
  EXPECT_FALSE(Advance(next->next, happened::Pardoned{})) << "there is nothing to end any more";

  const phase::Degraded drift{
      .fault = Fault::kDrift, .text = "x", .retry = phase::Degraded::Retry::kLook, .goal = kOld};
  next = Advance({drift, kOld, settled.rejected}, happened::Pardoned{});
  ASSERT_TRUE(next && Find<effect::Look>(next->effects) && Find<effect::ForgetRejection>(next->effects));
  EXPECT_FALSE(next->next.rejected);
}

// The recovery decides what is rejected: it does not reject the change of a person.
TEST(State, TheUndoOfAChangeIsNoRejection) {
  using How = happened::Recovered::How;
  const Rejection of_old{kOld, "kubelet.service is failed"};
  for (const How how : {How::kUndone, How::kRebootNeeded}) {
    const auto next = Advance({phase::Recovering{}, kNew, of_old}, happened::Recovered{how, kNew});
    ASSERT_TRUE(next);
    EXPECT_EQ(next->next.rejected, of_old);
    EXPECT_FALSE(Find<effect::ReportFault>(next->effects));
  }
}

TEST(State, ARebootHasTheGoalOfTheChangeAndNotTheGoalThatIsWantedNow) {
  using How = happened::Recovered::How;
  auto next = Advance({phase::Changing{kNew}, kNewer, std::nullopt}, happened::Changed{.needs_reboot = true});
  ASSERT_TRUE(next && Find<effect::Reboot>(next->effects));
  EXPECT_EQ(Find<effect::Reboot>(next->effects)->purpose.goal, kNew);
  next = Advance({phase::Recovering{}, kNewer, std::nullopt},
                 happened::Recovered{.how = How::kRebootNeeded, .goal = kNew, .undoes = true});
  ASSERT_TRUE(next && Find<effect::Reboot>(next->effects));
  EXPECT_EQ(Find<effect::Reboot>(next->effects)->purpose.goal, kNew);
  EXPECT_TRUE(Find<effect::Reboot>(next->effects)->purpose.undoes);
  next = Advance(next->next, happened::Failed{"an inhibitor"});
  next = Advance(next->next, happened::RetryDue{});
  ASSERT_TRUE(next && Find<effect::Reboot>(next->effects));
  EXPECT_EQ(Find<effect::Reboot>(next->effects)->purpose.goal, kNew);
}

TEST(State, TheTimeAndTheRoundsOfConfirmingArePartOfThePhase) {
  using How = happened::Recovered::How;
  const MonotonicTime since = MonotonicTime(std::chrono::hours(1));
  auto next = Advance({phase::Recovering{}, kNew, std::nullopt},
                      happened::Recovered{.how = How::kToBeConfirmed, .goal = kNew, .at = since});
  ASSERT_TRUE(next && Find<effect::WatchHealth>(next->effects));
  // The first round begins at once.
  EXPECT_EQ(Find<effect::WatchHealth>(next->effects)->after, std::chrono::seconds(0));
  for (int rounds = 0; rounds < 3; ++rounds) {
    const auto& confirming = std::get<phase::Confirming>(next->next.phase);
    EXPECT_EQ(confirming.since, since);
    EXPECT_EQ(confirming.rounds, rounds);
    next = Advance(next->next, happened::NotYetWell{std::chrono::seconds(2)});
    ASSERT_TRUE(next && Find<effect::WatchHealth>(next->effects));
    EXPECT_EQ(Find<effect::WatchHealth>(next->effects)->after, std::chrono::seconds(2));
  }
}

TEST(State, OnlyARecoveryAfterAnUnhealthyBootUndoesTheChange) {
  const State confirming{phase::Confirming{}, kNew, std::nullopt};
  auto next = Advance(confirming, happened::Well{});
  ASSERT_TRUE(next);
  EXPECT_FALSE(std::get<phase::Recovering>(next->next.phase).is_going_back);
  next = Advance(confirming, happened::Unwell{"kubelet.service is failed"});
  ASSERT_TRUE(next);
  EXPECT_TRUE(std::get<phase::Recovering>(next->next.phase).is_going_back);
  // The next attempt is an ordinary recovery: it ends the change as the journal says, and need not undo it.
  next = Advance(next->next, happened::Failed{"the disk is full"});
  ASSERT_TRUE(next);
  next = Advance(next->next, happened::RetryDue{});
  ASSERT_TRUE(next);
  EXPECT_FALSE(std::get<phase::Recovering>(next->next.phase).is_going_back);
}

TEST(State, TheRejectionOnTheDiskReplacesTheOneInMemory) {
  using How = happened::Recovered::How;
  State state{phase::Recovering{}, kNew, std::nullopt};
  EXPECT_FALSE(Advance(state, happened::RejectionRead{}));
  auto next = Advance(state, happened::RejectionRead{Rejection{kNew, "it did not boot"}});
  ASSERT_TRUE(next && next->effects.empty());
  state = next->next;
  next = Advance(state, happened::Recovered{How::kEnded, kNew});
  ASSERT_TRUE(next);
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->fault, Fault::kRejected);
  // Someone has removed the rejection from the disk.
  next = Advance(state, happened::RejectionRead{});
  ASSERT_TRUE(next);
  next = Advance(next->next, happened::Recovered{How::kEnded, kNew});
  ASSERT_TRUE(next);
  EXPECT_TRUE(Find<effect::Look>(next->effects));
}

TEST(State, AnOutdatedLookIsRepeatedWithoutOtherChanges) {
  const phase::Checking checking{
      .goal = kNew, .is_drained = true, .attempts = 2, .needs_another_look = true, .follows_another_look = true};
  const auto next = Advance({checking, kNew, std::nullopt}, happened::Looked{kNew, {.is_outdated = true}});
  ASSERT_TRUE(next);
  ASSERT_EQ(next->effects.size(), 1u);
  EXPECT_EQ(Find<effect::Look>(next->effects)->goal, kNew);
  const auto& again = std::get<phase::Checking>(next->next.phase);
  EXPECT_TRUE(again.is_drained && again.needs_another_look && again.follows_another_look);
  EXPECT_EQ(again.attempts, 2);
}

TEST(State, RepeatedFailuresAreRetriedLessOften) {
  State state{phase::Checking{kNew}, kNew, std::nullopt};
  for (int attempts = 1; attempts < 5; ++attempts) {
    auto next = Advance(state, happened::Failed{"the API server is away"});
    ASSERT_TRUE(next);
    EXPECT_EQ(Find<effect::RetryLater>(next->effects)->attempts, attempts);
    next = Advance(next->next, happened::RetryDue{});
    ASSERT_TRUE(next);
    state = next->next;
  }
}

TEST(State, AnUnusableGoalIsReportedAndTheMachineStaysAsItIs) {
  const State settled{phase::Settled{kOld}, kOld, std::nullopt};
  auto next = Advance(settled, happened::Unusable{"a file is broken"});
  ASSERT_TRUE(next);
  EXPECT_EQ(NameOf(next->next.phase), "settled");
  ASSERT_EQ(next->effects.size(), 1u);
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->fault, Fault::kUnusable);

  // The agent still watches the config that the machine has.
  next = Advance(next->next, happened::Noticed{});
  ASSERT_TRUE(next && Find<effect::Look>(next->effects));
  next = Advance(next->next, happened::Looked{kOld, {.has_goal = true}});
  ASSERT_TRUE(next);
  EXPECT_FALSE(Find<effect::ReportSettled>(next->effects));
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->text, "a file is broken");

  next = Advance(next->next, happened::Unusable{""});
  ASSERT_TRUE(next);
  EXPECT_EQ(Find<effect::ReportSettled>(next->effects)->goal, kOld);
}

TEST(State, AWaitingAgentReportsThatNothingIsWrongAnyMore) {
  auto next = Advance({phase::Waiting{}, std::nullopt, std::nullopt}, happened::Unusable{"a file is broken"});
  ASSERT_TRUE(next);
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->fault, Fault::kUnusable);
  EXPECT_FALSE(Find<effect::ReportWaiting>(next->effects));
  next = Advance(next->next, happened::Unusable{""});
  ASSERT_TRUE(next);
  EXPECT_TRUE(Find<effect::ReportWaiting>(next->effects));
}

TEST(State, AnUnusableGoalIsReportedAfterTheWorkHasEnded) {
  auto next = Advance({phase::Changing{kNew}, kNew, std::nullopt}, happened::Unusable{"a file is broken"});
  ASSERT_TRUE(next && next->effects.empty());
  next = Advance(next->next, happened::Changed{false});
  ASSERT_TRUE(next);
  EXPECT_EQ(NameOf(next->next.phase), "settled");
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->fault, Fault::kUnusable);
}

TEST(State, AGoalThatIsHaltedWhileItsLookIsHeldIsReportedAtOnce) {
  const State checking{phase::Checking{kNew}, kNew, std::nullopt};
  // A look that is not held soon ends, and its end reports the fault.
  auto next = Advance(checking, happened::Unusable{"a file is broken"});
  ASSERT_TRUE(next && next->effects.empty());

  next = Advance(checking, happened::Unusable{.why = "a gate has halted the change", .is_look_held = true});
  ASSERT_TRUE(next && Find<effect::ReportFault>(next->effects));
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->text, "a gate has halted the change");
  EXPECT_EQ(NameOf(next->next.phase), "checking");
  // The halt has ended, and the look waits for something else.
  next = Advance(next->next, happened::Unusable{.why = "", .is_look_held = true});
  ASSERT_TRUE(next && Find<effect::ReportWaiting>(next->effects));
}

TEST(State, EachFailureCountsAsOneAttempt) {
  auto next = Advance({phase::Draining{kNew, 2}, kNew, std::nullopt}, happened::Failed{"no answer"});
  ASSERT_TRUE(next);
  EXPECT_EQ(std::get<phase::Degraded>(next->next.phase).attempts, 3);
  next = Advance({phase::Rebooting{2}, kNew, std::nullopt}, happened::Failed{"no answer"});
  ASSERT_TRUE(next);
  EXPECT_EQ(std::get<phase::Degraded>(next->next.phase).attempts, 3);
}

TEST(State, AnUnusableGoalIsReportedAfterARecoveryWithoutAGoal) {
  auto next = Advance({phase::Recovering{}, std::nullopt, std::nullopt}, happened::Unusable{"a file is broken"});
  ASSERT_TRUE(next && next->effects.empty());
  next = Advance(next->next, happened::Recovered{happened::Recovered::How::kEnded});
  ASSERT_TRUE(next);
  EXPECT_EQ(NameOf(next->next.phase), "waiting");
  ASSERT_TRUE(Find<effect::ReportFault>(next->effects));
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->text, "a file is broken");
}

TEST(State, RecoveryOfAChangeThatCouldNotBeUndoneComesFirst) {
  using How = happened::Recovered::How;
  auto next = Advance({phase::Changing{kNew, 2}, kNew, std::nullopt}, happened::NotUndone{"no space"});
  ASSERT_TRUE(next && Find<effect::Recover>(next->effects));
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->text, "no space");
  EXPECT_FALSE(Find<effect::Look>(next->effects));
  EXPECT_FALSE(Find<effect::RetryLater>(next->effects));

  // The recovery fails as well, and is tried again as a recovery.
  next = Advance(next->next, happened::Failed{"the disk is full"});
  ASSERT_TRUE(next);
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->text, "the disk is full");
  EXPECT_EQ(Find<effect::RetryLater>(next->effects)->attempts, 1);
  const State failed = next->next;
  EXPECT_FALSE(Advance(failed, happened::Noticed{}));
  next = Advance(failed, happened::RetryDue{});
  ASSERT_TRUE(next && Find<effect::Recover>(next->effects));

  // A person does not have to wait for the next try.
  EXPECT_TRUE(Find<effect::Recover>(Advance(failed, happened::Asked{})->effects));

  // When the change is undone in the end, its failure is reported, and it is tried again after a longer time.
  const State recovering = next->next;
  next = Advance(recovering, happened::Recovered{How::kUndone, kNew});
  ASSERT_TRUE(next);
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->text, "no space; the change has been undone");
  EXPECT_EQ(Find<effect::RetryLater>(next->effects)->attempts, 3);
  EXPECT_TRUE(Find<effect::Look>(Advance(next->next, happened::RetryDue{})->effects));

  // The undo may have rejected the goal.
  State rejecting = recovering;
  rejecting.rejected = Rejection{kNew, "it did not boot"};
  next = Advance(rejecting, happened::Recovered{How::kUndone, kNew});
  ASSERT_TRUE(next);
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->fault, Fault::kRejected);

  // The change is not tried again if another goal is wanted by then.
  const auto with_newer_goal = Advance(recovering, happened::Wanted{kNewer});
  ASSERT_TRUE(with_newer_goal && with_newer_goal->effects.empty());
  next = Advance(with_newer_goal->next, happened::Recovered{How::kUndone, kNew});
  ASSERT_TRUE(next);
  EXPECT_EQ(Find<effect::Look>(next->effects)->goal, kNewer);
}

TEST(State, TheGoalIsNotReachedWhileTheJournalHasAChange) {
  const State checking{phase::Checking{kNew}, kNew, std::nullopt};
  auto next = Advance(checking, happened::Looked{kNew, {.is_cut_short = true, .has_goal = true}});
  ASSERT_TRUE(next && Find<effect::Recover>(next->effects));
  EXPECT_FALSE(Find<effect::ReportSettled>(next->effects));
  next = Advance(checking, happened::Looked{kNew, {.waits = "reboot it", .has_goal = true}});
  ASSERT_TRUE(next);
  EXPECT_EQ(Find<effect::ReportFault>(next->effects)->text, "reboot it");
  EXPECT_FALSE(Find<effect::Reboot>(next->effects));
}

TEST(State, AFailedRecoveryOrRebootIsRepeated) {
  auto next = Advance({phase::Recovering{}, kNew, std::nullopt}, happened::Failed{"the disk is full"});
  ASSERT_TRUE(next);
  const auto with_newer_goal = Advance(next->next, happened::Wanted{kNewer});
  ASSERT_TRUE(with_newer_goal && with_newer_goal->effects.empty());
  auto again = Advance(with_newer_goal->next, happened::RetryDue{});
  ASSERT_TRUE(again && Find<effect::Recover>(again->effects));
  next = Advance({phase::Rebooting{}, kNew, std::nullopt}, happened::Failed{"an inhibitor"});
  ASSERT_TRUE(next);
  again = Advance(next->next, happened::RetryDue{});
  ASSERT_TRUE(again && Find<effect::Reboot>(again->effects));
}

}  // namespace
}  // namespace pintle::agent
