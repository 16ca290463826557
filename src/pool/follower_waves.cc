// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "pool/follower.h"

namespace pintle::pool {
namespace {

using std::chrono::seconds;

}  // namespace

bool Follower::IsEligible(std::size_t i, const Wave& wave) const {
  return !standings_[i].is_assigned && (!wave.selector || wave.selector->Matches(nodes_[i].node().metadata.labels));
}

bool Follower::IsUnderWayAlready(std::size_t i) const {
  const Standing& standing = standings_[i];
  const std::string& name = nodes_[i].name();
  return standing.is_assigned && !standing.is_faulty && IsOnTheWay(nodes_[i]) && !memory_.assigned_at.contains(name) &&
         !IsExcused(name);
}

bool Follower::IsUndrainable(std::size_t i) const {
  return situation_.undrainable != nullptr && situation_.undrainable->contains(nodes_[i].name());
}

void Follower::ReplaceUndrainableMembers(const Wave& wave) {
  if (situation_.undrainable == nullptr || !wave.nodes) return;
  NodeIndices others;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const bool is_better = nodes_[i].is_ready() && !nodes_[i].is_degraded() && !IsUndrainable(i);
    if (is_better && IsEligible(i, wave) && !Has(memory_.members, nodes_[i].name())) others.push_back(i);
  }
  std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) { return Rank(a) < Rank(b); });
  auto other = others.begin();
  for (std::size_t i = 0; i < nodes_.size() && other != others.end(); ++i) {
    if (!IsNextInWave(i) || !IsUndrainable(i)) continue;
    RemoveFrom(memory_.members, nodes_[i].name());
    AddTo(memory_.members, nodes_[*other].name());
    Report("RolloutNodeReplaced",
           fmt::format("node {} takes the place of node {}, which cannot be drained now, in wave {} of {} ({}) of {}",
                       nodes_[*other].name(), nodes_[i].name(), memory_.wave_index + 1, decided_.waves, wave.name,
                       target_text_));
    ++other;
  }
}

void Follower::ChooseMembers(const Wave& wave) {
  memory_.members.clear();
  if (!wave.has_all_remaining_nodes()) {
    NodeIndices eligible;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (IsEligible(i, wave)) eligible.push_back(i);
    }
    const auto under_way = NamesWhere([&](std::size_t i) { return IsUnderWayAlready(i); });
    std::size_t count = CountExpectedNodes(wave);
    if (wave.nodes) count -= std::min(count, under_way.size());
    for (const std::string& name : under_way) AddTo(memory_.members, name);
    std::stable_sort(eligible.begin(), eligible.end(), [&](std::size_t a, std::size_t b) { return Rank(a) < Rank(b); });
    for (std::size_t at = 0; at < count;) {
      const auto is_like_first = [&](std::size_t i) { return Rank(i) == Rank(eligible[at]); };
      const auto from = eligible.begin() + static_cast<std::ptrdiff_t>(at);
      const NodeIndices alike(from, std::find_if_not(from, eligible.end(), is_like_first));
      const std::size_t wanted = std::min(count - at, alike.size());
      for (const std::size_t i : PickFirst(nodes_, alike, static_cast<int>(wanted))) {
        AddTo(memory_.members, nodes_[i].name());
      }
      at += alike.size();
    }
  }
  memory_.has_begun = true;
  Report(
      "RolloutWaveBegun",
      fmt::format("wave {} of {} ({}) of {} begins: {}", memory_.wave_index + 1, decided_.waves, wave.name,
                  target_text_, wave.has_all_remaining_nodes() ? "all nodes that are left" : Listed(memory_.members)));
}

std::size_t Follower::CountWaveNodes() const {
  return CountWhere([&](std::size_t i) { return IsInWave(i); });
}

std::size_t Follower::CountExpectedNodes(const Wave& wave) const {
  if (wave.has_all_remaining_nodes()) return nodes_.size();
  const std::size_t eligible = CountWhere([&](std::size_t i) { return IsEligible(i, wave); });
  return wave.nodes ? std::min(wave.nodes->RoundedUp(nodes_.size()), eligible) : eligible;
}

std::size_t Follower::FailuresAllowed() const {
  const Wave& wave = CurrentWave();
  if (!wave.failure_threshold) return nodes_.size();
  return wave.failure_threshold->RoundedDown(memory_.has_begun ? CountWaveNodes() : CountExpectedNodes(wave));
}

bool Follower::IsWaveWell() const {
  if (HasTooManyFailures()) return false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Standing& standing = standings_[i];
    if (!IsInWave(i)) continue;
    if (!standing.is_assigned) return false;
    const bool is_excused = standing.has_failed || IsExcused(nodes_[i].name());
    if (!is_excused && !(standing.is_updated && standing.is_well)) return false;
  }
  return true;
}

void Follower::FollowWaves() {
  is_any_unassigned_ = CountWhere([&](std::size_t i) { return !standings_[i].is_assigned; }) > 0;
  if (IsLastWaveOver() && is_any_unassigned_) {
    // Nodes have joined the pool since the rollout ended, and the rollout is not the cause of faults that other nodes
    // have got since then.  If there is a halt, however, the rollout had not ended: its last wave is over merely
    // because the policy has fewer waves than before.
    if (!memory_.halt) ForgiveFailures();
    memory_.wave_index = decided_.waves - 1;
    memory_.has_begun = false;
  }
  while (!IsLastWaveOver() && FollowWave()) {
  }
  if (!IsLastWaveOver()) return;
  decided_.wave = decided_.waves;
  SetPhase(RolloutPhase::kComplete, fmt::format("all {} have {}", CountedNodes(nodes_.size()), target_text_));
}

bool Follower::FollowWave() {
  const Wave& wave = CurrentWave();
  if (memory_.has_begun && CountWaveNodes() == 0) memory_.has_begun = false;
  if (!memory_.has_begun) {
    const bool has_nodes = CountWhere([&](std::size_t i) { return IsEligible(i, wave) || IsUnderWayAlready(i); }) > 0;
    // The end of a wave excuses failures, which a wave without nodes must not do.
    if (!has_nodes && HasTooManyFailures()) return false;
    if (!has_nodes) return EndWave("is skipped, because all nodes that it selects have the target");
    if (!MayBegin(wave)) return false;
    if (HasTooManyFailures()) return false;  // JudgeHalt() reports the halt.
    ChooseMembers(wave);
  } else {
    ReplaceUndrainableMembers(wave);
  }
  if (!IsWaveWell()) {
    memory_.well_since.reset();
    SetPhase(RolloutPhase::kUpdating, ProgressText());
    return false;
  }
  if (!HasSoaked(wave) || !AreGatesAfterMet()) return false;
  return EndWave("is done");
}

bool Follower::HasSoaked(const Wave& wave) {
  const bool has_questions = std::any_of(policy_.gates.begin(), policy_.gates.end(), IsQuestionAfterWave);
  // Without a soak time, well_since is needed only for questions: their answers must be newer.
  if (wave.soak == seconds(0) && !has_questions) return true;
  if (!memory_.well_since) memory_.well_since = At(now_);
  const WallTime due = memory_.well_since->at + wave.soak;
  if (due <= now_) return true;
  DecideAgainAt(due);
  SetPhase(RolloutPhase::kSoaking,
           fmt::format("the nodes of wave {} of {} ({}) are updated and ready; the wave's soak time ends at {}",
                       memory_.wave_index + 1, decided_.waves, wave.name, ToRfc3339(due)));
  return false;
}

bool Follower::EndWave(std::string_view how) {
  const bool had_begun = std::exchange(memory_.has_begun, false);
  const std::string name = CurrentWave().name;
  memory_.members.clear();
  memory_.well_since.reset();
  timeouts_.ForgetAll();
  memory_.passed_gates.clear();
  are_gates_after_judged_ = false;
  ExcuseFailures();  // The wave allowed these failures, and the next wave counts only its own.
  if (had_begun) RememberEnd();
  if (had_begun || (is_any_unassigned_ && !IsLastWave())) {
    Report(had_begun ? "RolloutWaveDone" : "RolloutWaveSkipped",
           fmt::format("wave {} of {} ({}) of {} {}", memory_.wave_index + 1, decided_.waves, name, target_text_, how));
  }
  // After an edit of the policy, nodes may be left at the end of the last wave.  Then the last wave begins once more.
  if (!IsLastWave() || !is_any_unassigned_) ++memory_.wave_index;
  if (IsLastWaveOver()) {
    AddDurations();
    memory_.assigned_at.clear();
    if (had_begun) Report("RolloutFinished", fmt::format("the rollout of {} has finished", target_text_));
  }
  return true;
}

void Follower::RememberEnd() {
  const std::int32_t number = memory_.wave_index + 1;
  const bool is_known = std::any_of(memory_.ended.begin(), memory_.ended.end(),
                                    [&](const api::RolloutWaveEnd& end) { return end.wave == number; });
  if (!is_known) memory_.ended.push_back({.wave = number, .at = At(now_)});
}

void Follower::MoveFailuresTo(std::vector<std::string>& names) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!std::exchange(standings_[i].has_failed, false)) continue;
    AddTo(names, nodes_[i].name());
    RemoveFrom(memory_.failed, nodes_[i].name());
  }
}

std::string Follower::ProgressText() const {
  const auto in_wave = CountWaveNodes();
  const auto done = CountWhere([&](std::size_t i) { return IsInWave(i) && standings_[i].is_updated; });
  std::string text = fmt::format("wave {} of {} ({}): {} of {} updated", memory_.wave_index + 1, decided_.waves,
                                 CurrentWave().name, done, CountedNodes(in_wave));
  const auto cordoned = NamesWhere(
      [&](std::size_t i) { return IsInWave(i) && !standings_[i].is_assigned && nodes_[i].node().spec.unschedulable; });
  if (!cordoned.empty()) {
    text +=
        fmt::format("; not updated, because somebody has cordoned them (run `kubectl uncordon`): {}", Listed(cordoned));
  }
  return text;
}

}  // namespace pintle::pool
