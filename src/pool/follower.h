// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows a rollout by a policy: makes one decision of pool/waved_rollout.h.
//
// This is one class, because all its parts read and change the same memory.  Each part has a file with its functions:
// follower.cc has the standing of nodes and the memory, follower_orders.cc the orders of people, follower_waves.cc the
// waves, follower_gates.cc the gates and the halts, and follower_admission.cc the choice of the nodes that may be
// updated now.

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "api/rollout_policy.h"
#include "pool/blocked_nodes.h"
#include "pool/gate_timeouts.h"
#include "pool/rollout.h"
#include "pool/rollout_policy.h"
#include "pool/sorted_names.h"
#include "pool/target.h"
#include "pool/waved_rollout.h"

namespace pintle::pool {

// Longer texts are cut off; both limits are in characters.
inline constexpr std::size_t kLongestReason = 512;
inline constexpr std::size_t kLongestMessage = 4096;

inline api::Time At(WallTime time) { return {std::chrono::floor<std::chrono::seconds>(time)}; }
// Returns the names in order, with commas between them.  Of a long list, names only the first and counts the others.
std::string Listed(std::vector<std::string> names);
// Returns a text such as "1 node" or "5 nodes".
std::string CountedNodes(std::size_t count);

// Removes the first elements until there are no more than `most`.
template <typename T>
void KeepLast(std::vector<T>& list, std::size_t most) {
  if (list.size() > most) list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(most));
}

// The reasons of a halt.
inline constexpr std::string_view kHaltedByFailures = "FailureThreshold";
inline constexpr std::string_view kHaltedByGate = "Gate";

// Makes one decision: brings the memory of the rollout up to date, and works out which nodes may be updated now.
class Follower {
 public:
  Follower(const Situation& situation, const PolicyInputs& inputs)
      : situation_(situation),
        nodes_(situation.nodes),
        inputs_(inputs),
        policy_(inputs.policy),
        now_(std::chrono::floor<std::chrono::seconds>(inputs.now)),
        target_(situation.pool, situation.layering),
        target_text_(TargetText()),
        memory_(inputs.memory),
        timeouts_(memory_.blocked, now_, &memory_.waited) {
    ExpandBlocked(memory_, nodes_);
    KeepWithinPolicy();
  }

  PolicyRollout Follow() &&;

 private:
  // ---- the standing of each node in this rollout ----

  struct Standing {
    bool is_assigned = false;  // The node has the target, or is on the way to it.
    bool is_updated = false;   // The node has the target, and its agent reports that it is done.
    bool is_well = false;      // The agent is done, and pods can run on the node, or could if nobody had cordoned it.
    bool is_faulty = false;    // The node is degraded or late, or it is done and has been unready for too long.
    bool has_failed = false;   // The node is faulty, and this rollout is the cause.
  };

  std::string TargetText() const;

  // A layered pool has no target before its image is built.
  bool IsTargetKnown() const;

  static bool IsWell(const NodeState& node) { return node.is_done() && node.is_ready_uncordoned(); }
  static bool IsUnready(const NodeState& node) { return node.is_done() && !node.is_ready_uncordoned(); }
  static bool IsFaulty(const NodeState& node) { return node.is_degraded() || IsUnready(node); }

  // Returns whether the node's fault does not count as a failure of this rollout.
  bool IsExcused(const std::string& node) const { return Has(memory_.ailing, node) || Has(memory_.excused, node); }

  // Returns when a node was given the target.  If the memory does not have this time, the node counts as assigned since
  // the beginning of the rollout, or since its own creation if that is later.
  WallTime AssignedAt(const NodeState& node) const;

  static WallTime CreatedAt(const NodeState& node);

  // A machine that is installed with the target is not ready at first.  This is no fault of the target.
  bool IsStarting(const NodeState& node) const;

  // An older controller may have recorded a halt without the list `failed`.  Fills the list, so that the halt does not
  // end when this controller takes over.
  void AdoptHalt();

  // Works out the standing of each node, and records which nodes are not ready or have failed.
  void Classify();

  // Returns whether a node that has the target is faulty.  A failure by time is recorded: otherwise it would end if the
  // clock was put back, and the next node might be updated.
  bool IsFaultyWithTarget(const NodeState& node, std::map<std::string, api::Time>& unready_since);

  const Wave& CurrentWave() const;
  bool IsLastWaveOver() const { return memory_.wave_index >= static_cast<int>(policy_.waves.size()); }
  bool IsLastWave() const { return memory_.wave_index + 1 >= static_cast<int>(policy_.waves.size()); }

  bool IsInWave(std::size_t i) const;

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

  std::vector<std::string> FailedNodes() const;

  // ---- the memory ----

  // If the policy has fewer waves than before, the wave that is under way counts as the last one.
  void KeepWithinPolicy();

  void AddNews(bool is_warning, const char* reason, std::string_view message);
  void Report(const char* reason, const std::string& message) { AddNews(false, reason, message); }
  void Warn(const char* reason, const std::string& message) { AddNews(true, reason, message); }
  void DecideAgainAt(WallTime when);

  // Returns whether a node has failed with the previous target, or with one before it, and is not well since then.
  bool IsBrokenByPreviousTarget(const NodeState& node) const;

  // Replaces the memory of the previous target's rollout by that of a new one.
  void Begin();

  // The node is to have another config or another image than it has now.
  static bool IsOnTheWay(const NodeState& node) {
    return node.current_config() != node.desired_config() ||
           node.current_image().value_or("") != node.desired_image().value_or("");
  }

  // Forgets the faults of nodes that are well or have gone.  If the clock was put back, times may lie in the future;
  // they are replaced by the present time.
  void BringUpToDate();

  // If a node that was on the way to another target when this rollout began fails or takes too long, records that the
  // other target has broken the node.
  void JudgeUnfinished();

  // ---- orders of people ----
  //
  // Each of the functions that read an annotation of the pool acts on the order in it, if the order is new.

  // Returns the text of an order in an annotation of the pool; empty if it is too long to be one.
  std::string OrderIn(std::string_view annotation) const;

  void ReadOverride();

  // Returns why the pool's order to disregard the windows does not act; `order` is unset if it cannot be read.
  std::string WhyNotOverridden(const std::optional<api::RolloutOrder>& order) const;

  std::string OverrideCommand() const;

  bool IsForThisRollout(const api::RolloutOrder& order) const;

  bool IsApproved(std::string_view wave_digest) const;

  void ReadApproval();

  // Returns whether the present wave may begin.  If it may not, sets the phase kAwaitingApproval.
  bool MayBegin(const Wave& wave);

  void ReadResumption();

  // ---- waves ----

  // Returns whether the wave may choose the node.
  bool IsEligible(std::size_t i, const Wave& wave) const;

  // Returns whether the node is on the way to the target, though nothing is recorded about its update.  For instance,
  // the policy was deleted and created again meanwhile.  Such a node belongs to the next wave that begins: its result
  // has to be known before other nodes follow.
  bool IsUnderWayAlready(std::size_t i) const;

  bool IsUndrainable(std::size_t i) const;

  // Returns the rank by which a wave chooses its nodes; the lowest comes first.  Nodes that are ready and not degraded
  // come before others, because only these nodes show whether the target works.  Among nodes that are alike in
  // this, those that cannot be drained now come last, because they would hold the wave up.
  auto Rank(std::size_t i) const {
    return std::tuple(!nodes_[i].is_ready(), nodes_[i].is_degraded(), IsUndrainable(i), DomainOf(i));
  }

  // Puts other nodes in the places of those that cannot be drained now.  Whether a node can be drained is found out
  // only after the wave has chosen it.
  void ReplaceUndrainableMembers(const Wave& wave);

  // Chooses the nodes of a wave.  Among nodes of the same rank, PickFirst() decides.
  void ChooseMembers(const Wave& wave);

  std::size_t CountWaveNodes() const;

  // Returns how many nodes the wave would have if it chose them now.
  std::size_t CountExpectedNodes(const Wave& wave) const;

  // Before the wave has chosen its nodes, the threshold is applied to the number of nodes that the wave will have.
  std::size_t FailuresAllowed() const;
  bool HasTooManyFailures() const { return FailedNodes().size() > FailuresAllowed(); }

  // Returns whether all nodes of the wave are updated and well.  A node that has failed, or whose fault is older than
  // the rollout, does not keep a wave from ending.
  bool IsWaveWell() const;

  void FollowWaves();

  // Takes the present wave as far as possible.  Returns whether the wave has ended.
  bool FollowWave();

  // Returns whether the soak time of the wave is over.  If it is not, sets the phase kSoaking.
  bool HasSoaked(const Wave& wave);

  // Ends the present wave, and returns true.
  bool EndWave(std::string_view how);

  // Records the end of the present wave.  The last wave begins again whenever nodes have joined the pool, and only its
  // first end is recorded.
  void RememberEnd();

  // Excuses the present failures: from now on, they do not count.
  void ExcuseFailures() { MoveFailuresTo(memory_.excused); }
  // Decides that this rollout is not the cause of the present faults of nodes that have the target.
  void ForgiveFailures() { MoveFailuresTo(memory_.ailing); }
  void MoveFailuresTo(std::vector<std::string>& names);

  std::string ProgressText() const;

  // ---- gates ----

  bool IsMetBy(const Gate& gate, const NodeState& node) const;

  // Returns the requirement of a gate about nodes, as the reason why a node does not meet the gate.
  static std::string WantedBy(const Gate& gate);

  static bool IsQuestionAfterWave(const Gate& gate) { return gate.when == GateTime::kAfter && !gate.is_about_nodes(); }

  GateResult ResultOf(const Gate& gate) const;

  // Records that a gate blocks the rollout or one node.  Returns true if the gate's timeout has passed, and the policy
  // lets the rollout continue then.
  bool IsPassedByTimeout(const Gate& gate, const std::string& key, const std::string& why, bool is_running);

  // Notes that a gate halts the rollout.  Of several such gates, the gate of the present halt is kept; if it is not
  // among them, the first one.
  void HaltByGate(const Gate& gate, std::string why);

  // Returns why a gate does not let a node pass, or an empty text if it does.  If `node` is nullptr, the gate is
  // checked for the rollout as a whole.  The gate's timeout stands still unless `is_running`.
  std::string WhyBlocked(const Gate& gate, const NodeState* node, bool is_running);

  // Returns whether the gates of GateTime::kAfter are met.  If they are not, sets the phase kAwaitingGate.
  bool AreGatesAfterMet();

  // If the gates of GateTime::kAfter were not judged, for instance because a node of the wave is not well, stops their
  // timeouts.  A halt by one of these gates then goes on.
  void StopGatesAfter();

  // Keeps the first text that is not empty.
  static void KeepFirst(std::string& kept, std::string text);

  // ---- halts ----

  // Begins, keeps or ends the halt of the rollout.
  void JudgeHalt();

  void Halt(std::string_view reason, const std::string& gate, const std::string& message);

  void EndHalt(std::string_view why);

  // ---- which nodes may be updated now ----

  // Returns the failure domain of a node; empty for all nodes if the policy has no order of domains.
  std::string_view DomainOf(std::size_t i) const;

  // Returns whether the node can only gain by being given the target, as pool/waved_rollout.h explains.
  bool CanOnlyGain(std::size_t i) const;

  bool IsNextInWave(std::size_t i) const { return IsInWave(i) && !standings_[i].is_assigned; }

  bool IsWindowOpen() const { return decided_.opening.begin <= now_; }

  bool IsInWindow(std::size_t i) const;

  // A node reboots into another image, whatever else the config changes.
  bool GetsAnotherImage(std::size_t i) const;

  // Returns why no node may be updated before others have staged the target; empty if nodes may be updated.
  std::string WhyNotStaged() const;

  // Returns, for each node, whether it may be updated if no gate blocks it.
  std::vector<bool> WithinWindowAndWave();

  void SetPhaseOfWindow();

  static bool IsAny(const std::vector<bool>& nodes);

  // Returns which of the admitted nodes `nodes` could be updated now if no gate blocked them.  For all other nodes, the
  // timeouts of gates stand still: otherwise, a timeout could pass before the node's turn comes.
  std::vector<bool> UpdatableNow(std::vector<bool> nodes) const;

  // Sets admitted_ to the nodes for which the wave, the window and all gates of GateTime::kBefore allow an update.
  void ApplyGatesBefore(bool has_too_many_failures);

  // Returns how many more nodes the wave's maxUnavailable allows to be unavailable, or nullopt if it does not limit
  // them.
  std::optional<int> WaveCapacity() const;

  // Works out admission_ from admitted_, the halt, the failure domains and the wave's maxUnavailable.
  void Admit();

  // Returns the failure domains in which nodes are being updated; none if the policy has no order of domains.
  std::set<std::string_view> BusyDomains() const;

  // While nodes of failure domains are being updated, withdraws the admission of nodes of all other domains.  If no
  // domain is being updated, keeps only the first domain with a ready node that can be updated now.  If there is no
  // such domain, keeps the first one with any node that can be updated now, or else the first one with an admitted
  // node.
  void KeepOneDomain();

  // ---- the result ----

  void SetPhase(RolloutPhase phase, std::string message);

  // Returns the decision: Decide() chooses among the nodes that admission_ admits.
  PolicyRollout Conclude();

  static bool ChangesTarget(const NodePatch& patch);

  // If a node has not been updated this long after its update was recorded in the memory, the update is recorded again.
  // The node's timeout begins at the recorded time, so only a small part of it may pass before the update.
  std::chrono::seconds RecordLasts() const;

  // Records when nodes are given the target, and which of these nodes have a fault already.
  void Record(const std::vector<NodeUpdate>& updates);

  std::map<std::string_view, const Standing*> StandingsByName() const {
    std::map<std::string_view, const Standing*> standings;
    for (std::size_t i = 0; i < nodes_.size(); ++i) standings.emplace(nodes_[i].name(), &standings_[i]);
    return standings;
  }

  // Returns when a node's latest update ended, as its agent reports it, or nullopt if the node is not done.
  static std::optional<WallTime> UpdatedAt(const api::MachineConfigNode& node);

  // Adds the durations of updates that are done.  Must be called before their start times are removed from
  // `memory_.assigned_at`.
  void AddDurations();

  // Removes the start times of updates that are done, or that have been recorded long ago and not been made.
  void RemoveOldAssignments();

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
  std::string why_gate_halts_;
  // For each node: whether its wave, its window and the gates allow its update.  A halt or the order of failure domains
  // may still forbid the update.
  std::vector<bool> admitted_;
  Admission admission_;
  PolicyRollout decided_;
};

}  // namespace pintle::pool
