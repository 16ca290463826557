// SPDX-License-Identifier: Apache-2.0
#include "pool/waved_rollout.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "api/annotations.h"
#include "base/digest.h"
#include "base/first_characters.h"
#include "base/printable.h"
#include "base/time_span.h"
#include "json/fields.h"
#include "json/parse.h"
#include "pool/blocked_nodes.h"
#include "pool/gate_timeouts.h"

namespace pintle::pool {
namespace {

using std::chrono::seconds;

// A message names at most this many nodes.
constexpr std::size_t kMostNamed = 5;
// The limits of Follower::RecordLasts().
constexpr seconds kShortestRecord = std::chrono::minutes(1);
constexpr seconds kLongestRecord = std::chrono::minutes(10);
// The memory has at most this many of the latest resumptions and approvals, and names this many nodes of a resumption.
constexpr std::size_t kMostResumptions = 16;
constexpr std::size_t kMostApprovals = 2 * kMostWaves;
constexpr std::size_t kMostResumedNodes = 50;
// Longer texts are cut off; both limits are in characters.
constexpr std::size_t kLongestReason = 512;
constexpr std::size_t kLongestMessage = 4096;

api::Time At(WallTime time) { return {std::chrono::floor<seconds>(time)}; }

// Returns the names in order, with commas between them.  Of a long list, names only the first and counts the others.
std::string Listed(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const std::size_t count = names.size();
  if (count > kMostNamed) names.resize(kMostNamed);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (count > kMostNamed) text += fmt::format(" and {} more", count - kMostNamed);
  return text;
}

std::string Nodes(std::size_t count) { return fmt::format("{} {}", count, count == 1 ? "node" : "nodes"); }

bool Has(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

void AddTo(std::vector<std::string>& sorted, const std::string& name) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name);
  if (at == sorted.end() || *at != name) sorted.insert(at, name);
}

void RemoveFrom(std::vector<std::string>& sorted, const std::string& name) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name);
  if (at != sorted.end() && *at == name) sorted.erase(at);
}

// Removes the first elements until there are no more than `most`.
template <typename T>
void KeepLast(std::vector<T>& list, std::size_t most) {
  if (list.size() > most) list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(most));
}

// Returns whether pods could run on the node if nobody had cordoned it.
bool IsReadyUncordoned(const NodeState& node) {
  if (node.is_ready()) return true;
  if (!node.node().spec.unschedulable) return false;
  api::Node uncordoned;
  uncordoned.status = node.node().status;
  return !WhyNotReady(uncordoned);
}

// Returns the order in an annotation, or nullopt if there is none or it cannot be read.
std::optional<api::RolloutOrder> ReadOrder(const std::string& text) {
  if (text.empty() || text.size() > kLongestOrder) return std::nullopt;
  auto value = json::Parse(text);
  if (!value) return std::nullopt;
  json::Report report;
  auto order = json::Decode<api::RolloutOrder>(*std::move(value), report);
  if (report.has_errors()) return std::nullopt;
  order.by = FirstCharacters(Printable(order.by), kLongestReason);
  order.reason = FirstCharacters(Printable(order.reason), kLongestReason);
  return order;
}

// Makes one decision: brings the memory of the rollout up to date, and works out which nodes may be updated now.
class Follower {
 public:
  Follower(const Situation& situation, const PolicyInputs& inputs)
      : situation_(situation),
        nodes_(situation.nodes),
        inputs_(inputs),
        policy_(inputs.policy),
        now_(std::chrono::floor<seconds>(inputs.now)),
        target_(situation.pool, situation.layering),
        target_text_(TargetText()),
        memory_(inputs.memory),
        timeouts_(memory_.blocked, now_, &memory_.waited) {
    ExpandBlocked(memory_, nodes_);
    KeepWithinPolicy();
  }

  PolicyRollout Follow() && {
    decided_.opening = policy_.windows.Next(now_);
    decided_.waves = static_cast<int>(policy_.waves.size());
    if (IsTargetKnown()) {
      if (memory_.target != target_text_) Begin();
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

 private:
  // ---- the standing of each node in this rollout ----

  struct Standing {
    bool is_assigned = false;  // The node has the target, or is on the way to it.
    bool is_updated = false;   // The node has the target, and its agent reports that it is done.
    bool is_well = false;      // The agent is done, and pods can run on the node, or could if nobody had cordoned it.
    bool is_faulty = false;    // The node is degraded, late, or done and not ready for too long.
    bool has_failed = false;   // The node is faulty, and this rollout is the cause.
  };

  std::string TargetText() const {
    std::string text = situation_.pool.spec.configuration.name;
    if (!situation_.layering.image().empty()) text += fmt::format(" {}", situation_.layering.image());
    return text;
  }

  // A layered pool has no target before its image is built.
  bool IsTargetKnown() const {
    if (situation_.pool.spec.configuration.name.empty()) return false;
    return !situation_.layering.is_layered() || CheckImage(situation_.layering).can_apply;
  }

  static bool IsWell(const NodeState& node) { return node.is_done() && IsReadyUncordoned(node); }
  static bool IsUnready(const NodeState& node) { return node.is_done() && !IsReadyUncordoned(node); }
  static bool IsFaulty(const NodeState& node) { return node.is_degraded() || IsUnready(node); }

  // Returns whether the node's fault does not count as a failure of this rollout.
  bool IsExcused(const std::string& node) const { return Has(memory_.ailing, node) || Has(memory_.excused, node); }

  // Returns when a node was given the target.  If the memory does not have this time, the node counts as assigned since
  // the begin of the rollout, or since its own creation if it is newer.
  WallTime AssignedAt(const NodeState& node) const {
    const auto assigned = memory_.assigned_at.find(node.name());
    const auto at = assigned != memory_.assigned_at.end() ? assigned->second : memory_.began.value_or(At(now_));
    // If the clock was put back, the recorded time may lie in the future.
    return std::min(assigned != memory_.assigned_at.end() ? at.at : std::max(at.at, CreatedAt(node)), now_);
  }

  static WallTime CreatedAt(const NodeState& node) {
    const auto& created = node.node().metadata.creation_timestamp;
    return created ? created->at : WallTime::min();
  }

  // A machine that is installed with the target is not ready at first.  This is no fault of the target.
  bool IsStarting(const NodeState& node) const {
    if (node.is_degraded() || !memory_.began || CreatedAt(node) < memory_.began->at) return false;
    return std::min(CreatedAt(node), now_) + CurrentWave().node_timeout > now_;
  }

  // Works out the standing of each node, and records which nodes are not ready or have failed.
  void Classify() {
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

  // Returns whether a node that has the target is faulty.  A failure by time is recorded: otherwise it would end if the
  // clock was put back, and the next node might be updated.
  bool IsFaultyWithTarget(const NodeState& node, std::map<std::string, api::Time>& unready_since) {
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

  const Wave& CurrentWave() const {
    return policy_.waves[std::min(static_cast<std::size_t>(std::max(memory_.wave_index, 0)), policy_.waves.size() - 1)];
  }
  bool IsLastWaveOver() const { return memory_.wave_index >= static_cast<int>(policy_.waves.size()); }
  bool IsLastWave() const { return memory_.wave_index + 1 >= static_cast<int>(policy_.waves.size()); }

  bool IsInWave(std::size_t i) const {
    if (!memory_.has_begun) return false;
    // A wave that has chosen its nodes keeps them.  If the policy was edited meanwhile, the number of this wave may now
    // be that of the wave that has all nodes which other waves leave.
    return memory_.members.empty() ? CurrentWave().has_all_remaining_nodes() : Has(memory_.members, nodes_[i].name());
  }

  template <typename Predicate>
  std::vector<std::string> NamesWhere(Predicate&& predicate) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (predicate(i)) names.push_back(nodes_[i].name());
    }
    return names;
  }
  template <typename Predicate>
  std::size_t CountWhere(Predicate&& predicate) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) count += predicate(i) ? 1 : 0;
    return count;
  }

  std::vector<std::string> FailedNodes() const {
    return NamesWhere([&](std::size_t i) { return standings_[i].has_failed; });
  }

  // ---- the memory ----

  // If the policy has fewer waves than before, the wave that is under way counts as the last one.
  void KeepWithinPolicy() {
    const auto waves = static_cast<std::int32_t>(policy_.waves.size());
    const bool is_under_way = memory_.wave_index > waves || (memory_.wave_index == waves && memory_.has_begun);
    memory_.wave_index = is_under_way ? waves - 1 : std::max(memory_.wave_index, 0);
  }

  void AddNews(bool is_warning, const char* reason, std::string_view message) {
    decided_.news.push_back({is_warning, reason, FirstCharacters(PrintableLines(message), kLongestMessage)});
  }
  void Report(const char* reason, const std::string& message) { AddNews(false, reason, message); }
  void Warn(const char* reason, const std::string& message) { AddNews(true, reason, message); }
  void DecideAgainAt(WallTime when) {
    if (when > now_) decided_.decide_again_at = std::min(decided_.decide_again_at.value_or(when), when);
  }

  // Returns whether a node has failed with the previous target, or with one before it, and is not well since then.
  bool IsBrokenByPreviousTarget(const NodeState& node) const {
    const std::string& name = node.name();
    if (memory_.target.empty() || target_.IsAssignedTo(node) || IsWell(node)) return false;
    if (Has(memory_.broken, name)) return IsFaulty(node) || !IsReadyUncordoned(node);
    if (Has(memory_.excused, name) || Has(memory_.failed, name)) return true;
    if (Has(memory_.ailing, name) || IsLastWaveOver()) return false;
    const std::string_view previous = std::string_view(memory_.target).substr(0, memory_.target.find(' '));
    if (node.desired_config() != previous) return false;
    const bool is_late = !node.is_done() && AssignedAt(node) + CurrentWave().node_timeout <= now_;
    return IsFaulty(node) || is_late;
  }

  // Replaces the memory of the previous target's rollout by that of a new one.
  void Begin() {
    const bool is_first = memory_.target.empty();
    api::RolloutMemory next;
    next.target = target_text_;
    next.began = At(now_);
    next.approve_seen = memory_.approve_seen;
    next.resume_seen = memory_.resume_seen;
    next.took = memory_.took;
    next.override_seen = memory_.override_seen;
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
      Report(
          "RolloutHaltEnded",
          fmt::format("the halt of the rollout of {} has ended, because the pool has another target", memory_.target));
    }
    memory_ = std::move(next);
    if (!is_first || is_needed) Report("RolloutBegun", fmt::format("the rollout of {} begins", target_text_));
  }

  // The node is to have another config than it has now.
  static bool IsOnTheWay(const NodeState& node) { return node.current_config() != node.desired_config(); }

  // Forgets the faults of nodes that are well or have gone.  If the clock was put back, times may lie in the future;
  // they are replaced by the present time.
  void BringUpToDate() {
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

  // A node that was on the way to another target when this rollout began is broken by that target if it fails, or takes
  // too long.
  void JudgeUnfinished() {
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

  // ---- orders of people ----
  //
  // Each of the functions that read an annotation of the pool acts on the order in it, if the order is new.

  void ReadOverride() {
    const std::string& text = situation_.pool.metadata.Annotation(api::kOverrideAnnotation);
    auto& used = memory_.override_used;
    why_not_overridden_ = WhyNotOverridden(text);
    if (text.empty() || !why_not_overridden_.empty()) {
      if (used && !used->withdrawn) used->withdrawn = At(now_);
      return;
    }
    is_overridden_ = true;
    if (text == memory_.override_seen) return;
    const api::RolloutOrder order = ReadOrder(text).value();
    memory_.override_seen = text;
    used = {.target = target_text_, .reason = order.reason, .by = order.by, .at = At(now_), .withdrawn = std::nullopt};
    Warn("RolloutOverridden",
         fmt::format("{} lets {} be rolled out in spite of the policy's windows and freeze, for this reason: {}",
                     order.by, target_text_, order.reason));
  }

  // Returns why an order to disregard the windows does not act; empty if it acts, or if there is none.
  std::string WhyNotOverridden(const std::string& text) const {
    if (text.empty()) return "";
    const auto order = ReadOrder(text);
    if (!order || order->reason.empty()) {
      return fmt::format("the pool's annotation {} has no effect, because it is not an order; write it by `{}`",
                         api::kOverrideAnnotation, OverrideCommand());
    }
    if (order->target != situation_.pool.spec.configuration.name) {
      return fmt::format("the override was for {}; to override the windows for the present config, run `{}`",
                         Printable(order->target), OverrideCommand());
    }
    const auto& used = memory_.override_used;
    if (text == memory_.override_seen && (!used || used->withdrawn)) {
      return fmt::format("the override was for an earlier rollout; to override the windows for this one, run `{}`",
                         OverrideCommand());
    }
    return "";
  }

  std::string OverrideCommand() const {
    return fmt::format("kubectl pintle override {} --reason=TEXT", situation_.pool.metadata.name);
  }

  bool IsForThisRollout(const api::RolloutOrder& order) const {
    if (order.target != situation_.pool.spec.configuration.name) return false;
    return !order.began || order.began == memory_.began;
  }

  bool IsApproved(std::string_view wave_digest) const {
    return std::any_of(memory_.approvals.begin(), memory_.approvals.end(),
                       [&](const api::RolloutApproval& approval) { return approval.wave_digest == wave_digest; });
  }

  void ReadApproval() {
    const std::string& text = situation_.pool.metadata.Annotation(api::kApproveAnnotation);
    const auto order = ReadOrder(text);
    // An order acts at most once, and only when it is new: it does not approve a later rollout of the same config, such
    // as one after a rollback.
    if (!order || text == memory_.approve_seen) return;
    memory_.approve_seen = text;
    if (!IsForThisRollout(*order) || order->wave_digest.empty() || IsApproved(order->wave_digest)) return;
    for (std::size_t wave = 1; wave < policy_.waves.size(); ++wave) {
      if (DigestOfWave(policy_, wave, target_text_) != order->wave_digest) continue;
      const auto number = static_cast<std::int32_t>(wave + 1);
      memory_.approvals.push_back({.wave = number, .wave_digest = order->wave_digest, .by = order->by, .at = At(now_)});
      KeepLast(memory_.approvals, kMostApprovals);
      Report("RolloutApproved", fmt::format("wave {} ({}) of {} is approved by {}", number, policy_.waves[wave].name,
                                            target_text_, order->by));
      return;
    }
  }

  // Returns whether the present wave may begin.  If it may not, sets the phase kAwaitingApproval.
  bool MayBegin(const Wave& wave) {
    if (!policy_.needs_approval || memory_.wave_index == 0) return true;
    std::string digest = DigestOfWave(policy_, static_cast<std::size_t>(memory_.wave_index), target_text_);
    if (IsApproved(digest)) return true;
    decided_.wave_digest = std::move(digest);
    SetPhase(RolloutPhase::kAwaitingApproval,
             fmt::format("wave {} of {} ({}) waits for `kubectl pintle approve {}`", memory_.wave_index + 1,
                         decided_.waves, wave.name, situation_.pool.metadata.name));
    return false;
  }

  void ReadResumption() {
    const std::string& text = situation_.pool.metadata.Annotation(api::kResumeAnnotation);
    const auto order = ReadOrder(text);
    if (!order || text == memory_.resume_seen) return;
    memory_.resume_seen = text;
    if (!IsForThisRollout(*order) || !memory_.halt) return;
    std::vector<std::string> failed = FailedNodes();
    const std::size_t count = failed.size();
    if (count > kMostResumedNodes) failed.resize(kMostResumedNodes);
    ExcuseFailures();
    const std::string gate = memory_.halt->gate;
    // A halt that an older controller has recorded does not have the name of its gate.
    if (gate.empty()) {
      timeouts_.ForgetAll();
    } else {
      AddTo(memory_.passed_gates, gate);
      timeouts_.Forget(gate);
    }
    memory_.resumptions.push_back({.nodes = std::move(failed),
                                   .more_nodes = static_cast<std::int32_t>(count - std::min(count, kMostResumedNodes)),
                                   .gate = gate,
                                   .by = order->by,
                                   .at = At(now_)});
    KeepLast(memory_.resumptions, kMostResumptions);
    Report("RolloutResumed", fmt::format("{} resumes the rollout of {}", order->by, target_text_));
  }

  // ---- waves ----

  // Returns whether the wave may choose the node.
  bool IsEligible(std::size_t i, const Wave& wave) const {
    return !standings_[i].is_assigned && (!wave.selector || wave.selector->Matches(nodes_[i].node().metadata.labels));
  }

  bool IsUndrainable(std::size_t i) const {
    return situation_.undrainable != nullptr && situation_.undrainable->contains(nodes_[i].name());
  }

  // Returns the rank by which a wave chooses its nodes; the lowest comes first.  Nodes that are ready and not degraded
  // come before others, because only these nodes show whether the target works.  Nodes that cannot be drained now would
  // hold the wave up.
  auto Rank(std::size_t i) const {
    return std::tuple(!nodes_[i].is_ready(), nodes_[i].is_degraded(), IsUndrainable(i), DomainOf(i));
  }

  // Puts other nodes in the places of those that cannot be drained now.  Only after the wave has chosen a node is it
  // found out whether the node can be drained.
  void ReplaceUndrainableMembers(const Wave& wave) {
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

  // Chooses the nodes of a wave.  Among nodes of the same rank, PickFirst() decides.
  void ChooseMembers(const Wave& wave) {
    memory_.members.clear();
    if (!wave.has_all_remaining_nodes()) {
      NodeIndices eligible;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (IsEligible(i, wave)) eligible.push_back(i);
      }
      const std::size_t count = CountExpectedNodes(wave);
      std::stable_sort(eligible.begin(), eligible.end(),
                       [&](std::size_t a, std::size_t b) { return Rank(a) < Rank(b); });
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
    Report("RolloutWaveBegun",
           fmt::format("wave {} of {} ({}) of {} begins: {}", memory_.wave_index + 1, decided_.waves, wave.name,
                       target_text_,
                       wave.has_all_remaining_nodes() ? "all nodes that are left" : Listed(memory_.members)));
  }

  std::size_t CountWaveNodes() const {
    return CountWhere([&](std::size_t i) { return IsInWave(i); });
  }

  // Returns how many nodes the wave would have if it chose them now.
  std::size_t CountExpectedNodes(const Wave& wave) const {
    if (wave.has_all_remaining_nodes()) return nodes_.size();
    const std::size_t eligible = CountWhere([&](std::size_t i) { return IsEligible(i, wave); });
    return wave.nodes ? std::min(wave.nodes->RoundedUp(nodes_.size()), eligible) : eligible;
  }

  // Before the wave has chosen its nodes, the threshold is applied to the number of nodes that the wave will have.
  std::size_t FailuresAllowed() const {
    const Wave& wave = CurrentWave();
    if (!wave.failure_threshold) return nodes_.size();
    return wave.failure_threshold->RoundedDown(memory_.has_begun ? CountWaveNodes() : CountExpectedNodes(wave));
  }
  bool HasTooManyFailures() const { return FailedNodes().size() > FailuresAllowed(); }

  // Returns whether all nodes of the wave are updated and well.  A node that has failed, or whose fault is older than
  // the rollout, does not keep a wave from ending.
  bool IsWaveWell() const {
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

  void FollowWaves() {
    is_any_unassigned_ = CountWhere([&](std::size_t i) { return !standings_[i].is_assigned; }) > 0;
    if (IsLastWaveOver() && is_any_unassigned_) {
      // Nodes have joined the pool since the rollout ended, and the rollout is not the cause of faults that other nodes
      // have got since then.  If there is a halt, however, the rollout had not ended, and the policy only has fewer
      // waves than before.
      if (!memory_.halt) ForgiveFailures();
      memory_.wave_index = decided_.waves - 1;
      memory_.has_begun = false;
    }
    while (!IsLastWaveOver() && FollowWave()) {
    }
    if (!IsLastWaveOver()) return;
    decided_.wave = decided_.waves;
    SetPhase(RolloutPhase::kComplete, fmt::format("all {} have {}", Nodes(nodes_.size()), target_text_));
  }

  // Takes the present wave as far as possible.  Returns whether the wave has ended.
  bool FollowWave() {
    const Wave& wave = CurrentWave();
    if (memory_.has_begun && CountWaveNodes() == 0) memory_.has_begun = false;
    if (!memory_.has_begun) {
      const bool has_nodes = CountWhere([&](std::size_t i) { return IsEligible(i, wave); }) > 0;
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

  // Returns whether the soak time of the wave is over.  If it is not, sets the phase kSoaking.
  bool HasSoaked(const Wave& wave) {
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

  // Ends the present wave, and returns true.
  bool EndWave(std::string_view how) {
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
      Report(
          had_begun ? "RolloutWaveDone" : "RolloutWaveSkipped",
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

  // Records the end of the present wave.  The last wave begins again whenever nodes have joined the pool, and only its
  // first end is recorded.
  void RememberEnd() {
    const std::int32_t number = memory_.wave_index + 1;
    const bool is_known = std::any_of(memory_.ended.begin(), memory_.ended.end(),
                                      [&](const api::RolloutWaveEnd& end) { return end.wave == number; });
    if (!is_known) memory_.ended.push_back({.wave = number, .at = At(now_)});
  }

  // Excuses the present failures: from now on, they do not count.
  void ExcuseFailures() { MoveFailuresTo(memory_.excused); }
  // Decides that this rollout is not the cause of the present faults of nodes that have the target.
  void ForgiveFailures() { MoveFailuresTo(memory_.ailing); }
  void MoveFailuresTo(std::vector<std::string>& names) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!std::exchange(standings_[i].has_failed, false)) continue;
      AddTo(names, nodes_[i].name());
      RemoveFrom(memory_.failed, nodes_[i].name());
    }
  }

  std::string ProgressText() const {
    const auto in_wave = CountWaveNodes();
    const auto done = CountWhere([&](std::size_t i) { return IsInWave(i) && standings_[i].is_updated; });
    std::string text = fmt::format("wave {} of {} ({}): {} of {} updated", memory_.wave_index + 1, decided_.waves,
                                   CurrentWave().name, done, Nodes(in_wave));
    const auto cordoned = NamesWhere([&](std::size_t i) {
      return IsInWave(i) && !standings_[i].is_assigned && nodes_[i].node().spec.unschedulable;
    });
    if (!cordoned.empty()) {
      text += fmt::format("; not updated, because somebody has cordoned them (run `kubectl uncordon`): {}",
                          Listed(cordoned));
    }
    return text;
  }

  // ---- gates ----

  bool IsMetBy(const Gate& gate, const NodeState& node) const {
    if (const auto* wanted = std::get_if<api::GateCondition>(&gate.test)) {
      const auto& conditions = node.node().status.conditions;
      return std::any_of(conditions.begin(), conditions.end(), [&](const api::NodeCondition& condition) {
        return condition.type == wanted->type && condition.status == wanted->status;
      });
    }
    const auto& wanted = std::get<api::GateAnnotation>(gate.test);
    const std::string* const value = api::Find(node.node().metadata.annotations, wanted.key);
    return value != nullptr && (!wanted.value || *wanted.value == *value);
  }

  // Returns the requirement of a gate about nodes, as the reason why a node does not meet the gate.
  static std::string WantedBy(const Gate& gate) {
    if (const auto* wanted = std::get_if<api::GateCondition>(&gate.test)) {
      return fmt::format("its condition {} has to be {}", Printable(wanted->type), Printable(wanted->status));
    }
    const auto& wanted = std::get<api::GateAnnotation>(gate.test);
    if (!wanted.value) return fmt::format("it needs the annotation {}", Printable(wanted.key));
    return fmt::format("its annotation {} has to be \"{}\"", Printable(wanted.key), Printable(*wanted.value));
  }

  static bool IsQuestionAfterWave(const Gate& gate) { return gate.when == GateTime::kAfter && !gate.is_about_nodes(); }

  GateResult ResultOf(const Gate& gate) const {
    if (inputs_.gate_results == nullptr) return NoResultYet();
    const auto found = inputs_.gate_results->find(gate.name);
    if (found == inputs_.gate_results->end()) return NoResultYet();
    // An alert fires only some time after an update.  A request from before the nodes were well proves nothing.
    const bool is_outdated =
        IsQuestionAfterWave(gate) && memory_.well_since && found->second.asked <= memory_.well_since->at;
    if (is_outdated && found->second.is_met) {
      return {.is_met = false, .message = "there is no result yet from after the nodes of the wave were updated"};
    }
    return found->second;
  }

  // Records that a gate blocks the rollout or one node.  Returns true if the gate's timeout has passed, and the policy
  // lets the rollout continue then.
  bool IsPassedByTimeout(const Gate& gate, const std::string& key, const std::string& why, bool is_running) {
    const GateTimeouts::Outcome outcome = is_running ? timeouts_.Judge(gate, key) : timeouts_.JudgeStill(gate, key);
    if (timeouts_.next()) DecideAgainAt(*timeouts_.next());
    if (outcome == GateTimeouts::Outcome::kHalts) {
      HaltByGate(gate, fmt::format("{}; the gate's timeout of {} has passed", why, InWords(*gate.timeout)));
    }
    return outcome == GateTimeouts::Outcome::kContinues;
  }

  // The first gate that halts the rollout is the one that counts; but a halt keeps its gate while that gate requires
  // it.
  void HaltByGate(const Gate& gate, std::string why) {
    const bool is_present = memory_.halt && memory_.halt->gate == gate.name;
    if (!halting_gate_.empty() && !(is_present && halting_gate_ != gate.name)) return;
    halting_gate_ = gate.name;
    gate_halt_ = std::move(why);
  }

  // Returns why a gate does not let a node pass, or an empty text if it does.  If `node` is nullptr, the gate is
  // checked for the rollout as a whole.  The gate's timeout stands still unless `is_running`.
  std::string WhyBlocked(const Gate& gate, const NodeState* node, bool is_running) {
    if (Has(memory_.passed_gates, gate.name)) return "";
    if (gate.is_about_nodes()) {
      if (node == nullptr || IsMetBy(gate, *node)) return "";
      const std::string why = fmt::format("gate {} is not met by node {}: {}", gate.name, node->name(), WantedBy(gate));
      return IsPassedByTimeout(gate, gate.name + "/" + node->name(), why, is_running) ? "" : why;
    }
    const GateResult result = ResultOf(gate);
    if (result.is_met) return "";
    const std::string why = WhyNotMet(gate, result);
    return IsPassedByTimeout(gate, gate.name, why, is_running) ? "" : why;
  }

  // Returns whether the gates of GateTime::kAfter are met.  If they are not, sets the phase kAwaitingGate.
  bool AreGatesAfterMet() {
    are_gates_after_judged_ = true;
    std::string why;
    for (const Gate& gate : policy_.gates) {
      if (gate.when != GateTime::kAfter) continue;
      if (!gate.is_about_nodes()) KeepFirst(why, WhyBlocked(gate, nullptr, true));
      for (std::size_t i = 0; gate.is_about_nodes() && i < nodes_.size(); ++i) {
        const bool is_tested = IsInWave(i) && standings_[i].is_updated && !IsExcused(nodes_[i].name());
        if (is_tested) KeepFirst(why, WhyBlocked(gate, &nodes_[i], true));
      }
    }
    if (why.empty()) return true;
    SetPhase(RolloutPhase::kAwaitingGate, fmt::format("wave {} of {} ({}) is updated and waits for a gate: {}",
                                                      memory_.wave_index + 1, decided_.waves, CurrentWave().name, why));
    return false;
  }

  // Stops the timeouts of the gates of GateTime::kAfter if they were not judged, for instance because a node of the
  // wave is not well.  A halt by one of these gates goes on then.
  void StopGatesAfter() {
    if (are_gates_after_judged_ || !memory_.has_begun) return;
    for (const Gate& gate : policy_.gates) {
      if (gate.when != GateTime::kAfter || Has(memory_.passed_gates, gate.name)) continue;
      if (timeouts_.StopAll(gate)) HaltByGate(gate, memory_.halt ? memory_.halt->message : "");
    }
  }

  // Keeps the first text that is not empty.
  static void KeepFirst(std::string& kept, std::string text) {
    if (kept.empty()) kept = std::move(text);
  }

  // ---- halts ----

  // Begins, keeps or ends the halt of the rollout.
  void JudgeHalt() {
    if (IsLastWaveOver()) return EndHalt("the rollout is over");
    const std::vector<std::string> failed = FailedNodes();
    const std::size_t allowed = FailuresAllowed();
    ApplyGatesBefore(failed.size() > allowed);
    StopGatesAfter();
    timeouts_.ForgetUnblocked();
    if (failed.size() > allowed) {
      const std::string count = Nodes(failed.size()) + (failed.size() == 1 ? " has" : " have");
      const std::string most = allowed == 0 ? "none" : fmt::format("only {}", allowed);
      return Halt(
          "FailureThreshold", "",
          fmt::format("{} failed with {} ({}), and the policy allows {}", count, target_text_, Listed(failed), most));
    }
    if (!halting_gate_.empty()) return Halt("Gate", halting_gate_, gate_halt_);
    EndHalt("no failed node and no gate requires it any more");
  }

  void Halt(const char* reason, const std::string& gate, const std::string& message) {
    const std::string text = FirstCharacters(PrintableLines(message), kLongestMessage);
    const std::string with_remedy =
        fmt::format("{}.  Take the config back, or run `kubectl pintle resume {}` to go on in spite of this", text,
                    situation_.pool.metadata.name);
    if (!memory_.halt || memory_.halt->reason != reason) {
      memory_.halt = {.reason = reason, .gate = gate, .message = text, .since = At(now_)};
      Warn("RolloutHalted", with_remedy);
    }
    memory_.halt->gate = gate;
    memory_.halt->message = text;
    SetPhase(RolloutPhase::kHalted, with_remedy);
  }

  void EndHalt(std::string_view why) {
    if (!memory_.halt) return;
    memory_.halt.reset();
    Report("RolloutHaltEnded", fmt::format("the halt of the rollout of {} has ended, because {}", target_text_, why));
  }

  // ---- which nodes may be updated now ----

  // Returns the failure domain of a node; empty for all nodes if the policy has no order of domains.
  std::string_view DomainOf(std::size_t i) const {
    // Nodes without the label come last.
    static constexpr std::string_view kBehindAll = "\xff";
    if (policy_.order_label.empty()) return "";
    const std::string* const value = api::Find(nodes_[i].node().metadata.labels, policy_.order_label);
    return value == nullptr ? kBehindAll : std::string_view(*value);
  }

  // Returns whether the node can only gain by being given the target, as the comment of the header explains.
  bool CanOnlyGain(std::size_t i) const {
    const NodeState& node = nodes_[i];
    if (standings_[i].is_assigned) return false;
    if (target_.IsCurrentOf(node)) return true;
    return node.is_unavailable() && (node.is_failing() || Has(memory_.broken, node.name()));
  }

  bool IsNextInWave(std::size_t i) const { return IsInWave(i) && !standings_[i].is_assigned; }

  bool IsWindowOpen() const { return decided_.opening.begin <= now_; }

  bool IsInWindow(std::size_t i) const {
    if (is_overridden_) return true;
    if (policy_.windows.IsFrozenAt(now_)) return false;
    if (IsWindowOpen()) return true;
    return policy_.are_windows_for_disruptions_only && inputs_.undisruptive != nullptr &&
           inputs_.undisruptive->contains(nodes_[i].name()) && !GetsAnotherImage(i);
  }

  // A node reboots into another image, whatever else the config changes.
  bool GetsAnotherImage(std::size_t i) const {
    return nodes_[i].current_image().value_or("") != situation_.layering.image();
  }

  // Returns why no node may be updated before others have staged the target; empty if nodes may be updated.
  std::string WhyNotStaged() const {
    if (!policy_.stages_all) return "";
    std::vector<std::string> waiting;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      // A node that an earlier target has broken cannot stage another one, which may be the one that repairs it.
      const bool is_broken = nodes_[i].is_failing() && Has(memory_.broken, nodes_[i].name());
      if (standings_[i].is_assigned || is_broken) continue;
      const api::ObjectMeta& metadata = nodes_[i].node().metadata;
      const std::string& why = metadata.Annotation(api::kUnstageableAnnotation);
      if (!why.empty()) {
        return fmt::format("node {} cannot stage {}: {}", nodes_[i].name(), target_text_,
                           FirstCharacters(Printable(why), kLongestReason));
      }
      if (metadata.Annotation(api::kStagedAnnotation) != target_text_) waiting.push_back(nodes_[i].name());
    }
    if (waiting.empty()) return "";
    return fmt::format("{} not staged {} yet: {}", Nodes(waiting.size()) + (waiting.size() == 1 ? " has" : " have"),
                       target_text_, Listed(waiting));
  }

  // Returns, for each node, whether it may be updated if no gate blocks it.
  std::vector<bool> WithinWindowAndWave() {
    std::vector<bool> nodes(nodes_.size(), false);
    if (!memory_.has_begun) return nodes;
    const bool is_any_left = CountWhere([&](std::size_t i) { return IsNextInWave(i); }) > 0;
    if (!is_any_left) return nodes;
    if (const std::string why = WhyNotStaged(); !why.empty()) {
      SetPhase(RolloutPhase::kStaging, why);
      return nodes;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes[i] = IsNextInWave(i) && IsInWindow(i);
    if (std::find(nodes.begin(), nodes.end(), true) == nodes.end()) SetPhaseOfWindow();
    return nodes;
  }

  void SetPhaseOfWindow() {
    const auto& opening = decided_.opening;
    const std::string hint = why_not_overridden_.empty() ? "" : "; " + why_not_overridden_;
    if (policy_.windows.IsFrozenAt(now_)) {
      const std::string reason =
          policy_.freeze_reason.empty() ? "" : fmt::format(" ({})", Printable(policy_.freeze_reason));
      return SetPhase(RolloutPhase::kFrozen,
                      fmt::format("the policy's freeze{} forbids updates now; they can begin at {}{}", reason,
                                  ToRfc3339(opening.begin), hint));
    }
    SetPhase(RolloutPhase::kAwaitingWindow,
             fmt::format("no maintenance window is open; the next one begins at {}{}", ToRfc3339(opening.begin), hint));
  }

  static bool IsAny(const std::vector<bool>& nodes) {
    return std::find(nodes.begin(), nodes.end(), true) != nodes.end();
  }

  // Returns, for each of the nodes that are admitted, whether it could be updated now if no gate blocked it.  While it
  // could not, the timeouts of its gates stand still: a gate has to be tested when the turn of the node has come.
  std::vector<bool> UpdatableNow(std::vector<bool> nodes) const {
    if (!IsAny(nodes)) return nodes;
    const Headroom headroom = HeadroomOf(situation_);
    if (!headroom.hold_reason.empty()) return std::vector<bool>(nodes.size(), false);
    const bool has_capacity = headroom.capacity > 0 && WaveCapacity().value_or(1) > 0;
    std::vector<bool> is_lost(nodes.size(), false);
    for (const std::size_t i : FindUnavailableToUpdate(target_, nodes_)) is_lost[i] = true;
    const auto busy = BusyDomains();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const bool has_room = is_lost[i] || (has_capacity && nodes_[i].is_ready());
      nodes[i] = nodes[i] && has_room && (busy.empty() || busy.contains(DomainOf(i)));
    }
    return nodes;
  }

  // Sets admitted_ to the nodes for which the wave, the window and all gates of GateTime::kBefore allow an update.
  void ApplyGatesBefore(bool has_too_many_failures) {
    admitted_ = WithinWindowAndWave();
    std::vector<const Gate*> gates;
    for (const Gate& gate : policy_.gates) {
      if (gate.when == GateTime::kBefore) gates.push_back(&gate);
    }
    const bool is_any_next = memory_.has_begun && CountWhere([&](std::size_t i) { return IsNextInWave(i); }) > 0;
    if (gates.empty() || !is_any_next) return;
    const bool was_any_admitted = IsAny(admitted_);
    std::vector<bool> running(nodes_.size(), false);
    if (!has_too_many_failures) running = UpdatableNow(admitted_);
    std::string why;
    for (const Gate* const gate : gates) {
      if (!gate->is_about_nodes()) {
        std::string blocked = WhyBlocked(*gate, nullptr, IsAny(running));
        if (blocked.empty()) continue;
        running.assign(nodes_.size(), false);
        admitted_.assign(nodes_.size(), false);
        KeepFirst(why, std::move(blocked));
        continue;
      }
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!IsNextInWave(i)) continue;
        std::string blocked = WhyBlocked(*gate, &nodes_[i], running[i]);
        if (blocked.empty()) continue;
        if (admitted_[i]) KeepFirst(why, std::move(blocked));
        running[i] = false;
        admitted_[i] = false;
      }
    }
    if (was_any_admitted && !why.empty() && !IsAny(admitted_)) SetPhase(RolloutPhase::kAwaitingGate, why);
  }

  // Returns how many more nodes the wave's maxUnavailable allows to be unavailable, or nullopt if it does not limit
  // them.
  std::optional<int> WaveCapacity() const {
    const auto& most = CurrentWave().max_unavailable;
    if (!most || !memory_.has_begun) return std::nullopt;
    const auto in_use = CountWhere([&](std::size_t i) {
      const bool is_failing = nodes_[i].is_failing() && standings_[i].is_assigned;
      return IsInWave(i) && (nodes_[i].is_unavailable() || is_failing);
    });
    const auto limit = std::max<std::size_t>(most->RoundedDown(CountWaveNodes()), 1);
    return static_cast<int>(limit) - static_cast<int>(in_use);
  }

  // Works out admission_ from admitted_, the halt, the failure domains and the wave's maxUnavailable.
  void Admit() {
    admission_.nodes.assign(nodes_.size(), false);
    if (memory_.halt) return;
    if (!admitted_.empty()) admission_.nodes = admitted_;
    KeepOneDomain();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (CanOnlyGain(i)) admission_.nodes[i] = true;
    }
    admission_.capacity = WaveCapacity();
  }

  // Returns the failure domains in which nodes are being updated; none if the policy has no order of domains.
  std::set<std::string_view> BusyDomains() const {
    std::set<std::string_view> domains;
    for (std::size_t i = 0; !policy_.order_label.empty() && i < nodes_.size(); ++i) {
      const Standing& standing = standings_[i];
      const bool is_busy = standing.is_assigned && !standing.is_well && !standing.is_faulty;
      if (is_busy) domains.insert(DomainOf(i));
    }
    return domains;
  }

  // While nodes of a failure domain are being updated, withdraws the admission of nodes of all other domains.  If no
  // domain is being updated, chooses the first one with an admitted node.  Prefers domains with a node that can be
  // updated now, and of these the ones where such a node is ready.
  void KeepOneDomain() {
    if (policy_.order_label.empty()) return;
    std::set<std::string_view> domains = BusyDomains();
    if (domains.empty()) {
      // A node of another domain may have taken all room for ready nodes.
      const std::vector<bool> updatable = UpdatableNow(admission_.nodes);
      std::vector<bool> ready = updatable;
      for (std::size_t i = 0; i < nodes_.size(); ++i) ready[i] = ready[i] && nodes_[i].is_ready();
      const std::array preferences = {ready, updatable, admission_.nodes};
      for (const std::vector<bool>& preferred : preferences) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
          if (!preferred[i]) continue;
          if (domains.empty() || DomainOf(i) < *domains.begin()) domains = {DomainOf(i)};
        }
        if (!domains.empty()) break;
      }
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!domains.contains(DomainOf(i))) admission_.nodes[i] = false;
    }
  }

  // ---- the result ----

  void SetPhase(RolloutPhase phase, std::string message) {
    decided_.phase = phase;
    decided_.message = FirstCharacters(PrintableLines(message), kLongestMessage);
  }

  // Returns the decision: Decide() chooses among the nodes that admission_ admits.
  PolicyRollout Conclude() {
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

  static bool ChangesTarget(const NodePatch& patch) {
    const auto& annotations = patch.metadata.annotations;
    return std::any_of(annotations.begin(), annotations.end(), [](const auto& annotation) {
      return annotation.first == api::kDesiredConfigAnnotation || annotation.first == api::kDesiredImageAnnotation;
    });
  }

  // If a node has not been updated this long after its update was recorded in the memory, the update is recorded again.
  // The node's timeout begins at the recorded time, so only a small part of it may pass before the update.
  seconds RecordLasts() const {
    return std::clamp<seconds>(CurrentWave().node_timeout / 6, kShortestRecord, kLongestRecord);
  }

  // Records when nodes are given the target, and which of these nodes have a fault already.
  void Record(const std::vector<NodeUpdate>& updates) {
    std::map<std::string_view, std::size_t> indices;
    for (std::size_t i = 0; !updates.empty() && i < nodes_.size(); ++i) indices.emplace(nodes_[i].name(), i);
    bool is_new = false;
    for (const NodeUpdate& update : updates) {
      if (!ChangesTarget(update.patch)) continue;
      const std::size_t i = indices.at(update.node);
      const bool is_unwell = nodes_[i].is_degraded() || !IsReadyUncordoned(nodes_[i]);
      if (is_unwell) AddTo(memory_.ailing, update.node);
      const auto assigned = memory_.assigned_at.find(update.node);
      if (assigned != memory_.assigned_at.end() && now_ - assigned->second.at < RecordLasts()) continue;
      memory_.assigned_at.insert_or_assign(update.node, At(now_));
      is_new = true;
    }
    // Old entries are removed only when a new one is added, so that each node costs one write.
    if (is_new) RemoveOldAssignments();
  }

  std::map<std::string_view, const Standing*> StandingsByName() const {
    std::map<std::string_view, const Standing*> standings;
    for (std::size_t i = 0; i < nodes_.size(); ++i) standings.emplace(nodes_[i].name(), &standings_[i]);
    return standings;
  }

  // Returns when a node's latest update ended, as its agent reports it, or nullopt if the node is not done.
  static std::optional<WallTime> UpdatedAt(const api::MachineConfigNode& node) {
    for (const api::Condition& condition : node.status.conditions) {
      const bool is_done = condition.type == "Updated" && condition.status == "True";
      if (is_done && condition.last_transition_time) return condition.last_transition_time->at;
    }
    return std::nullopt;
  }

  // Adds the durations of updates that are done.  Must be called before their start times are removed from
  // `memory_.assigned_at`.
  void AddDurations() {
    if (memory_.assigned_at.empty()) return;
    const auto standings = StandingsByName();
    for (const api::MachineConfigNode* node : situation_.machine_config_nodes) {
      const auto assigned = memory_.assigned_at.find(node->metadata.name);
      const auto standing = standings.find(node->metadata.name);
      if (assigned == memory_.assigned_at.end() || standing == standings.end() || !standing->second->is_updated)
        continue;
      const auto updated = UpdatedAt(*node);
      if (!updated || *updated < assigned->second.at || *updated > now_) continue;
      if (!memory_.took || memory_.took->target != target_text_) {
        memory_.took = {.target = target_text_, .nodes = 0, .seconds = 0};
      }
      ++memory_.took->nodes;
      memory_.took->seconds += std::chrono::duration_cast<seconds>(*updated - assigned->second.at).count();
    }
  }

  // Removes the start times of updates that are done, or that have been recorded long ago and not been made.
  void RemoveOldAssignments() {
    AddDurations();
    const auto standings = StandingsByName();
    std::erase_if(memory_.assigned_at, [&](const auto& assigned) {
      const auto found = standings.find(assigned.first);
      if (found == standings.end() || found->second->is_updated) return true;
      return !found->second->is_assigned && now_ - assigned.second.at >= RecordLasts();
    });
  }

  const Situation& situation_;
  std::span<const NodeState> nodes_;
  const PolicyInputs& inputs_;
  const Policy& policy_;
  const WallTime now_;
  const Target target_;
  const std::string target_text_;
  api::RolloutMemory memory_;
  GateTimeouts timeouts_;            // Refers to memory_.
  std::vector<Standing> standings_;  // For each node.
  bool is_overridden_ = false;
  std::string why_not_overridden_;  // Why an order to disregard the windows does not act; empty without such an order.
  bool is_any_unassigned_ = false;
  bool are_gates_after_judged_ = false;  // The gates of GateTime::kAfter have been judged for the present wave.
  std::string halting_gate_;             // The gate that halts the rollout; empty if none does.
  std::string gate_halt_;                // Why it does.
  // For each node: whether its wave, its window and the gates allow its update.  A halt or the order of failure domains
  // may still forbid the update.
  std::vector<bool> admitted_;
  Admission admission_;
  PolicyRollout decided_;
};

}  // namespace

const char* NameOf(RolloutPhase phase) {
  switch (phase) {
    case RolloutPhase::kHeld:
      return "Held";
    case RolloutPhase::kUpdating:
      return "Updating";
    case RolloutPhase::kSoaking:
      return "Soaking";
    case RolloutPhase::kAwaitingApproval:
      return "AwaitingApproval";
    case RolloutPhase::kStaging:
      return "Staging";
    case RolloutPhase::kAwaitingGate:
      return "AwaitingGate";
    case RolloutPhase::kAwaitingWindow:
      return "AwaitingWindow";
    case RolloutPhase::kFrozen:
      return "Frozen";
    case RolloutPhase::kHalted:
      return "Halted";
    case RolloutPhase::kComplete:
      return "Complete";
  }
  return "";
}

PolicyRollout DecideByPolicy(const Situation& situation, const PolicyInputs& inputs) {
  return Follower(situation, inputs).Follow();
}

std::string DigestOfWave(const Policy& policy, std::size_t wave, std::string_view target) {
  const std::string& definition = policy.waves[wave].definition;
  std::size_t alike_before = 0;
  for (std::size_t i = 0; i < wave; ++i) alike_before += policy.waves[i].definition == definition ? 1 : 0;
  return Sha256(fmt::format("{}\n{}\n{}", target, alike_before, definition)).hex();
}

api::RolloutPoolStatus StatusOf(const Situation& situation, const PolicyRollout& decided,
                                const api::RolloutPoolStatus* before, WallTime now) {
  api::RolloutPoolStatus status;
  status.name = situation.pool.metadata.name;
  status.phase = NameOf(decided.phase);
  status.message = decided.message;
  const bool is_same = before != nullptr && before->phase == status.phase && before->since;
  status.since = is_same ? before->since : At(now);
  status.wave = decided.wave;
  status.waves = decided.waves;
  status.wave_digest = decided.wave_digest;
  status.nodes = static_cast<std::int32_t>(situation.nodes.size());
  status.updated = decided.updated;
  const bool has_window = decided.opening.end || decided.opening.begin > now;
  if (has_window) status.opens = At(decided.opening.begin);
  if (decided.opening.end) status.closes = At(*decided.opening.end);
  status.memory = decided.memory;
  return status;
}

}  // namespace pintle::pool
