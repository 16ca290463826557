// SPDX-License-Identifier: Apache-2.0
#include "agent/staging.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace pintle::agent {
namespace {

// A pause doubles with each failure, or with each attempt for which someone else held the claim, up to kLongestPause.
constexpr auto kFirstPause = std::chrono::seconds(10);
constexpr auto kLongestPause = std::chrono::minutes(5);
constexpr auto kFirstBusyPause = std::chrono::seconds(1);
constexpr auto kLongestBusyPause = std::chrono::seconds(30);
constexpr int kMostDoublings = 5;

std::chrono::seconds Doubled(std::chrono::seconds first, std::chrono::seconds longest, int times) {
  const int doublings = std::clamp(times - 1, 0, kMostDoublings);
  return std::min(std::chrono::seconds(first.count() << doublings), longest);
}

// Returns the goal to stage.  A goal that the machine is to have already needs no staging.
std::optional<Goal> GoalToStage(const Staging& staging, const State& state) {
  return staging.wanted == state.wanted ? std::nullopt : staging.wanted;
}

// Returns whether the machine has its goal, as far as is known.  During a look, that is not known, but an attempt that
// is under way may go on.
bool MayBegin(const State& state) { return std::holds_alternative<phase::Settled>(state.phase); }
bool MayGoOn(const State& state) { return MayBegin(state) || std::holds_alternative<phase::Checking>(state.phase); }

// Returns whether an image may be removed.  A change that does not find enough space ends in the phase Degraded, and
// the image of an earlier target may be what takes the space.  A drain takes a while, so the image is removed then, and
// the change that follows need not fail first.
bool MayCleanUp(const State& state) {
  if (MayBegin(state) || std::holds_alternative<phase::Draining>(state.phase)) return true;
  const auto* const degraded = std::get_if<phase::Degraded>(&state.phase);
  // With any other retry, the journal still has a change, and this change may need the image.
  using Retry = phase::Degraded::Retry;
  return degraded != nullptr && (degraded->retry == Retry::kNone || degraded->retry == Retry::kLook);
}

// Returns the work for an image whose goal is not the one to stage.
StagingWork CleanUpFor(const Staging& staging, const State& state) {
  if (!staging.is_due || !MayCleanUp(state)) return StagingWork::kNothing;
  if (const auto* const settled = std::get_if<phase::Settled>(&state.phase)) {
    return settled->goal == staging.fetched ? StagingWork::kForget : StagingWork::kCleanUp;
  }
  // The next attempt of the change needs the image.
  return staging.fetched == state.wanted ? StagingWork::kNothing : StagingWork::kCleanUp;
}

StagingWork WorkFor(const Staging& staging, const std::optional<Goal>& goal, const State& state) {
  if (!staging.is_wanted_known || staging.is_cleaning_up) return StagingWork::kNothing;
  if (staging.under_way) {
    return staging.under_way == goal && MayGoOn(state) ? StagingWork::kNothing : StagingWork::kStop;
  }
  if (staging.fetched && staging.fetched != goal) return CleanUpFor(staging, state);
  if (!MayBegin(state) || !staging.is_due) return StagingWork::kNothing;
  // Tidying removes all images that no deployment has, and the fetched image would be one of them.
  if (!staging.is_tidy && !staging.fetched) return StagingWork::kTidy;
  if (!goal || (state.rejected && state.rejected->goal == goal)) return StagingWork::kNothing;
  const bool is_staged = staging.outcome && staging.outcome->goal == goal && staging.outcome->why_not.empty();
  return is_staged ? StagingWork::kNothing : StagingWork::kStage;
}

StagingReport Unstageable(const Goal& goal, std::string why) {
  return {StagingReport::How::kUnstageable, goal, std::move(why)};
}

StagingReport ReportFor(const Staging& staging, const std::optional<Goal>& goal, const State& state) {
  if (!goal) return {};
  if (state.rejected && state.rejected->goal == goal) {
    return Unstageable(*goal, fmt::format("this node was not healthy with it: {}; correct the config, or run `pintle "
                                          "retry` on the node",
                                          state.rejected->why));
  }
  if (staging.outcome && staging.outcome->goal == goal) {
    if (staging.outcome->why_not.empty()) return {StagingReport::How::kStaged, *goal};
    return Unstageable(*goal, staging.outcome->why_not);
  }
  if (const auto* degraded = std::get_if<phase::Degraded>(&state.phase)) {
    return Unstageable(*goal,
                       fmt::format("this node is Degraded and has to be repaired first; run `pintle status` on it: {}",
                                   degraded->text));
  }
  return {StagingReport::How::kUnderWay, *goal};
}

}  // namespace

StagingDecision DecideStaging(const Staging& staging, const State& state) {
  const std::optional<Goal> goal = GoalToStage(staging, state);
  return {WorkFor(staging, goal, state), ReportFor(staging, goal, state)};
}

std::chrono::seconds StagingPause(int failures) { return Doubled(kFirstPause, kLongestPause, failures); }

std::chrono::seconds BusyPause(int attempts) { return Doubled(kFirstBusyPause, kLongestBusyPause, attempts); }

Result<std::shared_ptr<const Prepared>> ChangeToStage(Survey survey) {
  const Outlook& outlook = survey.outlook;
  if (survey.failure) return *std::move(survey.failure);
  if (outlook.is_cut_short) {
    return Error(ErrorKind::kConflict,
                 "a change of this machine was cut short, and has to be ended first: run `pintle "
                 "recover` on the node");
  }
  if (!outlook.waits.empty()) return Error(ErrorKind::kConflict, outlook.waits);
  if (!outlook.drift.empty()) return Error(ErrorKind::kConflict, outlook.drift);
  if (!outlook.why_unreconcilable.empty()) return Error(ErrorKind::kUnreconcilable, outlook.why_unreconcilable);
  if (outlook.is_outdated) return Error(ErrorKind::kConflict, "someone else is changing the config of this machine");
  return std::shared_ptr<const Prepared>(std::move(survey.prepared));
}

std::string TargetText(const Goal& goal) {
  return goal.image.empty() ? goal.config : fmt::format("{} {}", goal.config, goal.image);
}

Goal GoalFromTarget(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return {std::string(text)};
  return {std::string(text.substr(0, space)), std::string(text.substr(space + 1))};
}

}  // namespace pintle::agent
