// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides the next step of a rollout by a policy: in waves, behind gates, and within windows.
//
// A policy only ever holds nodes back: it chooses among the nodes that Decide() of pool/rollout.h would update.  So no
// policy overrides a pause of the pool or its maxUnavailable.
//
// A decision depends on the cluster and on the memory of the rollout, which is a value in the status of the policy.  A
// decision that changes the memory updates no node: the memory is written first, and the next decision updates nodes.
// So a controller that is killed at any point leaves a memory from which the next controller decides correctly.
//
// A failure counts if the change has caused it: the node was given the target of this rollout, and was well before.
// Too many failures halt the rollout.  The halt ends when enough of the failed nodes are well again, when the pool gets
// another target, or when a person orders it.
//
// Two kinds of nodes need no wave, gate or window, because they can only gain by being updated.  Some still have the
// contents of the target, as most nodes do when a config is taken back.  Others are unavailable already, because an
// earlier target has broken them or their change to another config has failed.  A node that is merely on the way to
// another config is of neither kind: it completes that change, and nobody knows yet whether the next target is better.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rollout_policy.h"
#include "base/clock.h"
#include "pool/candidates.h"
#include "pool/gate.h"
#include "pool/rollout.h"
#include "pool/rollout_policy.h"
#include "pool/windows.h"

namespace pintle::pool {

// An order in an annotation of a pool is ignored if its JSON has more bytes than this.
inline constexpr std::size_t kLongestOrder = 2048;

// The inputs of DecideByPolicy() beside the situation; borrowed for the call.
struct PolicyInputs {
  const Policy& policy;
  const api::RolloutMemory& memory;
  WallTime now;
  // The latest results of the gates that are not about nodes.  A gate without a result is not met.
  const std::map<std::string, GateResult>* gate_results = nullptr;
  // Nodes whose change is known to need neither a drain nor a reboot.
  const NodeNames* undisruptive = nullptr;
};

enum class RolloutPhase {
  kHeld,      // The pool itself forbids updates, for example because it is paused.
  kUpdating,  // Nodes are being updated, or are about to be.
  kSoaking,   // All nodes of a wave are well, and are watched for a while.
  kAwaitingApproval,
  kStaging,  // Nodes stage the target, and no node is updated before all have staged it.
  kAwaitingGate,
  kAwaitingWindow,
  kFrozen,  // The policy's freeze keeps all windows closed.
  kHalted,  // Too many nodes have failed, or a gate was not met in time.
  kComplete,
};
// Returns the name of a phase in the policy's status, such as "AwaitingGate".
const char* NameOf(RolloutPhase phase);

// Something that has happened to a rollout, for an Event.
struct RolloutNews {
  bool is_warning = false;
  std::string reason;  // Such as "RolloutHalted".
  std::string message;
};

struct PolicyRollout {
  Rollout rollout;
  // To be written before any node is updated.  If it differs from the inputs' memory, the rollout has no updates.
  api::RolloutMemory memory;
  std::vector<RolloutNews> news;  // The changes of the memory, for Events; emitted once the memory is written.
  RolloutPhase phase = RolloutPhase::kUpdating;
  std::string message;      // What the rollout does, or what it waits for.
  int wave = 0;             // The number of the present wave, from 1; 0 if there is no target yet.
  int waves = 0;            // The number of waves.
  std::string wave_digest;  // The digest that an approval of the wave has to name; empty if the wave waits for none.
  int updated = 0;          // The number of nodes that have reached the target.
  std::string to_stage;     // The target that nodes without it have to stage; empty if they stage nothing.
  Opening opening;          // The present window, or the next one.
  std::optional<WallTime> decide_again_at;  // When the decision may change although nothing in the cluster does.
};

// Returns the next step of the rollout, and the memory with which the step after it is decided.
PolicyRollout DecideByPolicy(const Situation& situation, const PolicyInputs& inputs);

// Returns the digest that an approval of a wave has to name; `wave` counts from 0.  The digest is made from the target,
// from the wave as the policy defines it, and from the number of earlier waves with the same definition.  So it stays
// the same when other waves are added or removed before the wave, and differs for waves with the same definition.
std::string DigestOfWave(const Policy& policy, std::size_t wave, std::string_view target);

// Returns the next entry for the pool in the policy's status.  `before` is the present entry, or nullptr.
api::RolloutPoolStatus StatusOf(const Situation& situation, const PolicyRollout& decided,
                                const api::RolloutPoolStatus* before, WallTime now);

}  // namespace pintle::pool
