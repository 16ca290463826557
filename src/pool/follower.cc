// SPDX-License-Identifier: Apache-2.0
#include "pool/follower.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/annotations.h"
#include "base/first_characters.h"
#include "base/printable.h"
#include "json/fields.h"

namespace pintle::pool {
namespace {

using std::chrono::seconds;

// A message names at most this many nodes.
constexpr std::size_t kMostNamed = 5;
// The limits of Follower::RecordLasts().
constexpr seconds kShortestRecord = std::chrono::minutes(1);
constexpr seconds kLongestRecord = std::chrono::minutes(10);

}  // namespace

std::string Listed(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const std::size_t count = names.size();
  if (count > kMostNamed) names.resize(kMostNamed);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (count > kMostNamed) text += fmt::format(" and {} more", count - kMostNamed);
  return text;
}

std::string CountedNodes(std::size_t count) { return fmt::format("{} {}", count, count == 1 ? "node" : "nodes"); }

PolicyRollout Follower::Follow() && {
  decided_.opening = policy_.windows.Next(now_);
  decided_.waves = static_cast<int>(policy_.waves.size());
  if (IsTargetKnown()) {
    if (memory_.target != target_text_) Begin();
    AdoptHalt();
    Classify();
    BringUpToDate();
    ReadOverride();
    ReadApproval();
    ReadResumption();
    FollowWaves();
    JudgeHalt();
    Admit();
  } else {
    admission_.nodes.assign(nodes_.size(), false);
  }
  return Conclude();
}

std::string Follower::TargetText() const {
  std::string text = situation_.pool.spec.configuration.name;
  if (!situation_.layering.image().empty()) text += fmt::format(" {}", situation_.layering.image());
  return text;
}

bool Follower::IsTargetKnown() const {
  if (situation_.pool.spec.configuration.name.empty()) return false;
  return !situation_.layering.is_layered() || CheckImage(situation_.layering).can_apply;
}

WallTime Follower::AssignedAt(const NodeState& node) const {
  const auto assigned = memory_.assigned_at.find(node.name());
  const auto at = assigned != memory_.assigned_at.end() ? assigned->second : memory_.began.value_or(At(now_));
  // If the clock was put back, the recorded time may lie in the future.
  return std::min(assigned != memory_.assigned_at.end() ? at.at : std::max(at.at, CreatedAt(node)), now_);
}

WallTime Follower::CreatedAt(const NodeState& node) {
  const auto& created = node.node().metadata.creation_timestamp;
  return created ? created->at : WallTime::min();
}

bool Follower::IsStarting(const NodeState& node) const {
  if (node.is_degraded() || !memory_.began || CreatedAt(node) < memory_.began->at) return false;
  return std::min(CreatedAt(node), now_) + CurrentWave().node_timeout > now_;
}

void Follower::AdoptHalt() {
  const bool is_recorded = !memory_.failed.empty() || !memory_.unready_since.empty();
  if (!memory_.halt || memory_.halt->reason != kHaltedByFailures || is_recorded || IsLastWaveOver()) return;
  for (const NodeState& node : nodes_) {
    const bool has_failed = target_.IsAssignedTo(node) && IsUnready(node) && !IsStarting(node);
    if (has_failed && !IsExcused(node.name())) AddTo(memory_.failed, node.name());
  }
}

void Follower::Classify() {
  standings_.clear();
  std::map<std::string, api::Time> unready_since;
  for (const NodeState& node : nodes_) {
    Standing standing;
    standing.is_assigned = target_.IsAssignedTo(node);
    standing.is_updated = standing.is_assigned && node.is_done();
    standing.is_well = IsWell(node);
    standing.is_faulty = standing.is_assigned ? IsFaultyWithTarget(node, unready_since) : IsFaulty(node);
    standing.has_failed = standing.is_assigned && standing.is_faulty && !IsExcused(node.name());
    standings_.push_back(standing);
  }
  memory_.unready_since = std::move(unready_since);
}

bool Follower::IsFaultyWithTarget(const NodeState& node, std::map<std::string, api::Time>& unready_since) {
  if (IsWell(node)) return false;
  const std::string& name = node.name();
  if (node.is_degraded() || Has(memory_.failed, name)) return true;
  const bool is_recorded = !IsExcused(name) && !IsLastWaveOver();
  if (IsUnready(node) && !is_recorded) return !IsStarting(node);
  WallTime due = AssignedAt(node) + CurrentWave().node_timeout;
  if (IsUnready(node)) {
    const auto known = memory_.unready_since.find(name);
    const api::Time since = known == memory_.unready_since.end() ? At(now_) : std::min(known->second, At(now_));
    unready_since.emplace(name, since);
    due = since.at + CurrentWave().ready_timeout;
    if (IsStarting(node)) due = std::max(due, CreatedAt(node) + CurrentWave().node_timeout);
  }
  if (due > now_) {
    DecideAgainAt(due);
    return false;
  }
  if (is_recorded) {
    AddTo(memory_.failed, name);
    unready_since.erase(name);
  }
  return true;
}

const Wave& Follower::CurrentWave() const {
  return policy_.waves[std::min(static_cast<std::size_t>(std::max(memory_.wave_index, 0)), policy_.waves.size() - 1)];
}

bool Follower::IsInWave(std::size_t i) const {
  if (!memory_.has_begun) return false;
  // A wave that has chosen its nodes keeps them.  If the policy was edited meanwhile, this wave's number may now belong
  // to the wave that has all remaining nodes.
  return memory_.members.empty() ? CurrentWave().has_all_remaining_nodes() : Has(memory_.members, nodes_[i].name());
}

std::vector<std::string> Follower::FailedNodes() const {
  return NamesWhere([&](std::size_t i) { return standings_[i].has_failed; });
}

void Follower::KeepWithinPolicy() {
  const auto waves = static_cast<std::int32_t>(policy_.waves.size());
  const bool is_under_way = memory_.wave_index > waves || (memory_.wave_index == waves && memory_.has_begun);
  memory_.wave_index = is_under_way ? waves - 1 : std::max(memory_.wave_index, 0);
}

void Follower::AddNews(bool is_warning, const char* reason, std::string_view message) {
  decided_.news.push_back({is_warning, reason, FirstCharacters(PrintableLines(message), kLongestMessage)});
}

void Follower::DecideAgainAt(WallTime when) {
  if (when > now_) decided_.decide_again_at = std::min(decided_.decide_again_at.value_or(when), when);
}

bool Follower::IsBrokenByPreviousTarget(const NodeState& node) const {
  const std::string& name = node.name();
  if (memory_.target.empty() || target_.IsAssignedTo(node) || IsWell(node)) return false;
  if (Has(memory_.broken, name)) return IsFaulty(node) || !node.is_ready_uncordoned();
  if (Has(memory_.excused, name) || Has(memory_.failed, name)) return true;
  if (Has(memory_.ailing, name) || IsLastWaveOver()) return false;
  const std::string_view previous = std::string_view(memory_.target).substr(0, memory_.target.find(' '));
  if (node.desired_config() != previous) return false;
  const bool is_late = !node.is_done() && AssignedAt(node) + CurrentWave().node_timeout <= now_;
  return IsFaulty(node) || is_late;
}

void Follower::Begin() {
  const bool is_first = memory_.target.empty();
  api::RolloutMemory next;
  next.target = target_text_;
  next.began = At(now_);
  next.approve_seen = memory_.approve_seen;
  next.resume_seen = memory_.resume_seen;
  next.took = memory_.took;
  next.override_seen = memory_.override_seen;
  // An order that is older than the memory is for an earlier rollout: `kubectl pintle` gives orders only to a rollout
  // that the policy reports.
  if (is_first) {
    next.approve_seen = OrderIn(api::kApproveAnnotation);
    next.resume_seen = OrderIn(api::kResumeAnnotation);
    next.override_seen = OrderIn(api::kOverrideAnnotation);
  }
  next.override_used = memory_.override_used;
  if (next.override_used && !next.override_used->withdrawn) next.override_used->withdrawn = At(now_);
  const bool is_needed = CountWhere([&](std::size_t i) { return !target_.IsAssignedTo(nodes_[i]); }) > 0;
  // Without an earlier memory, nobody knows why nodes that have the target are faulty.  If other nodes do not have
  // the target yet, the target counts as the cause: the policy may have been deleted and created again during a halt.
  const bool may_be_to_blame = is_first && is_needed;
  for (const NodeState& node : nodes_) {
    if (target_.IsAssignedTo(node)) {
      if (IsFaulty(node) && !may_be_to_blame) AddTo(next.ailing, node.name());
      if (IsUnready(node) && may_be_to_blame) AddTo(next.failed, node.name());
    } else if (IsBrokenByPreviousTarget(node)) {
      AddTo(next.broken, node.name());
    } else if (IsOnTheWay(node) && !node.is_degraded()) {
      AddTo(next.unfinished, node.name());
    }
  }
  if (memory_.halt) {
    Report("RolloutHaltEnded",
           fmt::format("the halt of the rollout of {} has ended, because the pool has another target", memory_.target));
  }
  memory_ = std::move(next);
  if (!is_first || is_needed) Report("RolloutBegun", fmt::format("the rollout of {} begins", target_text_));
}

void Follower::BringUpToDate() {
  std::set<std::string_view> unwell;
  std::set<std::string_view> unwell_with_target;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (standings_[i].is_well) continue;
    unwell.insert(nodes_[i].name());
    if (standings_[i].is_assigned) unwell_with_target.insert(nodes_[i].name());
  }
  for (auto* const names : {&memory_.ailing, &memory_.broken}) {
    std::erase_if(*names, [&](const std::string& name) { return !unwell.contains(name); });
  }
  for (auto* const names : {&memory_.excused, &memory_.failed}) {
    std::erase_if(*names, [&](const std::string& name) { return !unwell_with_target.contains(name); });
  }
  if (!memory_.unfinished.empty()) JudgeUnfinished();
  if (memory_.began && memory_.began->at > now_) memory_.began = At(now_);
  if (memory_.well_since && memory_.well_since->at > now_) memory_.well_since = At(now_);
  for (auto& [node, at] : memory_.assigned_at) at = std::min(at, At(now_));
}

void Follower::JudgeUnfinished() {
  std::vector<std::string> unfinished;
  const WallTime due = memory_.began.value_or(At(now_)).at + CurrentWave().node_timeout;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeState& node = nodes_[i];
    const bool is_unfinished = Has(memory_.unfinished, node.name()) && !standings_[i].is_assigned && !IsWell(node);
    if (!is_unfinished) continue;
    if (node.is_degraded() || due <= now_) {
      AddTo(memory_.broken, node.name());
    } else {
      AddTo(unfinished, node.name());
      DecideAgainAt(due);
    }
  }
  memory_.unfinished = std::move(unfinished);
}

void Follower::SetPhase(RolloutPhase phase, std::string message) {
  decided_.phase = phase;
  decided_.message = FirstCharacters(PrintableLines(message), kLongestMessage);
}

PolicyRollout Follower::Conclude() {
  Situation restricted = situation_;
  restricted.admission = &admission_;
  decided_.rollout = Decide(restricted);
  if (IsTargetKnown()) {
    decided_.wave = std::min(memory_.wave_index + 1, decided_.waves);
    Record(decided_.rollout.updates);
    Record(decided_.rollout.updates_of_unavailable);
  }
  if (!decided_.rollout.hold_reason.empty()) SetPhase(RolloutPhase::kHeld, decided_.rollout.hold_reason);
  // Nodes stage the target as soon as it is known, before a wave, a window or a gate allows the first update.
  if (policy_.stages_all && IsTargetKnown()) decided_.to_stage = target_text_;
  decided_.updated = static_cast<int>(CountWhere([&](std::size_t i) { return target_.IsReachedBy(nodes_[i]); }));
  DecideAgainAt(decided_.opening.begin);
  if (decided_.opening.end) DecideAgainAt(*decided_.opening.end);
  CompactBlocked(memory_);
  if (!json::Equal(memory_, inputs_.memory)) {
    decided_.rollout.updates.clear();
    decided_.rollout.updates_of_unavailable.clear();
  }
  decided_.memory = std::move(memory_);
  return std::move(decided_);
}

bool Follower::ChangesTarget(const NodePatch& patch) {
  const auto& annotations = patch.metadata.annotations;
  return std::any_of(annotations.begin(), annotations.end(), [](const auto& annotation) {
    return annotation.first == api::kDesiredConfigAnnotation || annotation.first == api::kDesiredImageAnnotation;
  });
}

std::chrono::seconds Follower::RecordLasts() const {
  return std::clamp<seconds>(CurrentWave().node_timeout / 6, kShortestRecord, kLongestRecord);
}

void Follower::Record(const std::vector<NodeUpdate>& updates) {
  std::map<std::string_view, std::size_t> indices;
  for (std::size_t i = 0; !updates.empty() && i < nodes_.size(); ++i) indices.emplace(nodes_[i].name(), i);
  bool is_new = false;
  for (const NodeUpdate& update : updates) {
    if (!ChangesTarget(update.patch)) continue;
    const std::size_t i = indices.at(update.node);
    const bool is_unwell = nodes_[i].is_degraded() || !nodes_[i].is_ready_uncordoned();
    if (is_unwell) AddTo(memory_.ailing, update.node);
    const auto assigned = memory_.assigned_at.find(update.node);
    if (assigned != memory_.assigned_at.end() && now_ - assigned->second.at < RecordLasts()) continue;
    memory_.assigned_at.insert_or_assign(update.node, At(now_));
    is_new = true;
  }
  // Old entries are removed only when a new one is added, so that each node costs one write.
  if (is_new) RemoveOldAssignments();
}

std::optional<WallTime> Follower::UpdatedAt(const api::MachineConfigNode& node) {
  for (const api::Condition& condition : node.status.conditions) {
    const bool is_done = condition.type == "Updated" && condition.status == "True";
    if (is_done && condition.last_transition_time) return condition.last_transition_time->at;
  }
  return std::nullopt;
}

void Follower::AddDurations() {
  if (memory_.assigned_at.empty()) return;
  const auto standings = StandingsByName();
  for (const api::MachineConfigNode* node : situation_.machine_config_nodes) {
    const auto assigned = memory_.assigned_at.find(node->metadata.name);
    const auto standing = standings.find(node->metadata.name);
    if (assigned == memory_.assigned_at.end() || standing == standings.end() || !standing->second->is_updated) continue;
    const auto updated = UpdatedAt(*node);
    if (!updated || *updated < assigned->second.at || *updated > now_) continue;
    if (!memory_.took || memory_.took->target != target_text_) {
      memory_.took = {.target = target_text_, .nodes = 0, .seconds = 0};
    }
    ++memory_.took->nodes;
    memory_.took->seconds += std::chrono::duration_cast<seconds>(*updated - assigned->second.at).count();
  }
}

void Follower::RemoveOldAssignments() {
  AddDurations();
  const auto standings = StandingsByName();
  std::erase_if(memory_.assigned_at, [&](const auto& assigned) {
    const auto found = standings.find(assigned.first);
    if (found == standings.end() || found->second->is_updated) return true;
    return !found->second->is_assigned && now_ - assigned.second.at >= RecordLasts();
  });
}

}  // namespace pintle::pool
