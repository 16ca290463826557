// SPDX-License-Identifier: Apache-2.0
#pragma once

// A RolloutPolicy in its checked form, and the choice of the policy of a pool.

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/machine_config_pool.h"
#include "api/rollout_policy.h"
#include "base/result.h"
#include "pool/gate.h"
#include "pool/windows.h"

namespace pintle::pool {

// A policy may have at most this many waves and windows.  The controller goes through all of them at each decision.
// The kind's schema in deploy/crds has the same limits.
inline constexpr std::size_t kMostWaves = 32;
inline constexpr std::size_t kMostWindows = 32;

// How long nodes may be done and not ready if the policy does not set a time.  The agent is done as soon as the kubelet
// runs, but the Node is Ready only when its network is.
inline constexpr std::chrono::seconds kReadyTimeout = std::chrono::minutes(5);

// A number of nodes, or a percentage of a set of nodes.
struct NodeShare {
  int number = 0;
  bool is_percentage = false;

  // These return how many of `count` nodes the share is.
  std::size_t RoundedUp(std::size_t count) const;
  std::size_t RoundedDown(std::size_t count) const;
};

struct Wave {
  std::string name;
  std::optional<NodeShare> nodes;            // Unset if the number of nodes is not limited.
  std::optional<api::Selector> selector;     // Unset if the wave may have any node.
  std::optional<NodeShare> max_unavailable;  // Unset if only the pool's maxUnavailable limits the wave.
  std::chrono::seconds soak = {};            // All nodes of the wave must be well for this long.
  // More failed nodes than this halt the rollout; if unset, failures never halt it.
  std::optional<NodeShare> failure_threshold;
  std::chrono::seconds node_timeout = std::chrono::hours(1);  // A node that takes longer has failed.
  // A node that is done has failed when it has been unready for longer than this.  Never longer than node_timeout.
  std::chrono::seconds ready_timeout = kReadyTimeout;
  std::string definition;  // The wave as the policy has it, as JSON; empty if the policy does not name the wave.

  // The wave has all nodes that earlier waves leave.
  bool has_all_remaining_nodes() const { return !nodes && !selector; }
};

struct Policy {
  std::string name;
  std::vector<Wave> waves;  // The last one has all nodes that the others leave.
  // The label that names a node's failure domain.  Domains are updated one after the other; if the label is empty,
  // nodes of all domains are updated at the same time.
  std::string order_label;
  bool needs_approval = false;  // Each wave but the first needs an approval.
  Windows windows;
  bool are_windows_for_disruptions_only = false;  // A change without a drain or a reboot needs no window.
  std::string freeze_reason;                      // Empty if the policy has none.
  std::vector<Gate> gates;
  bool stages_all = false;  // No node is updated before all nodes have staged the target.
};

// Checks a policy.  The error has all problems, each with its field and its remedy.
Result<Policy> CompilePolicy(const api::RolloutPolicy& policy, const FindZone& find_zone);

// The policy of a pool.
struct PolicyChoice {
  const api::RolloutPolicy* policy = nullptr;          // nullptr if no policy is for the pool.
  std::vector<const api::RolloutPolicy*> passed_over;  // Newer policies for the same pool, which are not used.
};
// Chooses the oldest of the policies that are for the pool; of those with the same age, the first one by name.  A
// policy whose selector cannot be used counts as one for all pools, so that no node is updated against somebody's will.
PolicyChoice ChoosePolicy(const api::MachineConfigPool& pool, std::span<const api::RolloutPolicy* const> policies);

}  // namespace pintle::pool
