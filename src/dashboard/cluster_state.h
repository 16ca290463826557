// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of a cluster that the page shows, as plain data.
//
// All of it is read from the API's objects and nothing from the memory of the leader, so the pages of all replicas show
// the same.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/controller_config.h"
#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/rollout_policy.h"
#include "base/clock.h"
#include "pool/node_state.h"

namespace pintle::dashboard {

// These values name what a node is doing, or why it does nothing.
enum class Activity {
  kDone,       // It has the pool's target.
  kWaiting,    // It has an older config and has not been given the target yet.
  kDraining,   // Its pods are being evicted.
  kUpdating,   // Its agent is applying the target.
  kRebooting,  // It reboots into the target.
  kNotReady,   // Its agent has nothing to do, but no pods can run on it.
  kDegraded,   // Its agent could not apply a config, or its disk is not as its config wants it.
};

inline constexpr Activity kAllActivities[] = {Activity::kDone,     Activity::kWaiting,   Activity::kDraining,
                                              Activity::kUpdating, Activity::kRebooting, Activity::kNotReady,
                                              Activity::kDegraded};

// Returns the word for an activity that people read, such as "rebooting".
std::string_view WordFor(Activity activity);

struct NodeEntry {
  std::string name;
  Activity activity = Activity::kDone;
  std::string config;          // The config that the node has.
  std::string desired_config;  // The config that the node has been given.
  std::string explanation;     // Why the node is degraded or not ready, or what its drain waits for.
  std::optional<WallTime> drain_began;

  bool operator==(const NodeEntry&) const = default;
};

// A condition of a pool that a person should know of.
struct PoolCondition {
  std::string type;
  std::string message;

  bool operator==(const PoolCondition&) const = default;
};

// The state of the rollout of a pool that has a RolloutPolicy.
struct RolloutEntry {
  std::string policy;
  std::string phase;  // Such as "AwaitingApproval"; empty if the controller has not reported about the pool yet.
  std::string message;
  std::string mistakes;                  // Why the policy cannot be used; empty if it can be.
  std::optional<WallTime> since;         // When this phase began.
  int wave = 0;                          // The number of the present wave, from 1.
  std::vector<std::string> waves;        // The names of all waves.
  int nodes = 0;                         // The number of the pool's nodes.
  int updated = 0;                       // The number of these nodes that have the target.
  std::optional<WallTime> window_opens;  // When the present window opened, or else when the next one opens.

  bool is_complete() const { return phase == "Complete"; }
  // Nothing happens until a person acts.
  bool needs_person() const { return phase == "Halted" || phase == "AwaitingApproval" || !mistakes.empty(); }
  bool operator==(const RolloutEntry&) const = default;
};

// Returns what the rollout does, in words that people read, such as "waits for an approval".
std::string_view WordsFor(const RolloutEntry& rollout);

struct PoolEntry {
  std::string name;
  std::string target;
  bool is_paused = false;
  std::vector<PoolCondition> conditions;
  std::vector<NodeEntry> nodes;
  std::optional<RolloutEntry> rollout = std::nullopt;  // Set if a RolloutPolicy is for the pool.

  // Returns the number of nodes with this activity.
  std::size_t CountOf(Activity activity) const;
  bool operator==(const PoolEntry&) const = default;
};

struct Certificate {
  std::string subject;
  std::string bundle;  // The bundle that the certificate is from.
  WallTime until;      // When the certificate expires.

  bool operator==(const Certificate&) const = default;
};

struct ClusterState {
  std::vector<PoolEntry> pools;
  std::vector<Certificate> certificates;  // The first to expire comes first.

  std::size_t CountOf(Activity activity) const;
  std::size_t node_count() const;
  bool operator==(const ClusterState&) const = default;
};

// A pool and its nodes, borrowed for the call of StateOf().
struct PoolAndNodes {
  const api::MachineConfigPool* pool;
  std::span<const pool::NodeState> nodes;
  const api::RolloutPolicy* policy = nullptr;  // The pool's policy, if there is one.
};

// Returns the state of the cluster that has these objects.  If `controller_config` is null, no certificates are known.
ClusterState StateOf(std::span<const PoolAndNodes> pools,
                     std::span<const api::MachineConfigNode* const> machine_config_nodes,
                     const api::ControllerConfig* controller_config);

}  // namespace pintle::dashboard
