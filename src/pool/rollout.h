// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides the next step of a pool's rollout: which nodes are updated now, why others are not, and what the pool's
// status is.
//
// The controller acts on the decision, and the command line prints the same decision as a preview, without regard to a
// RolloutPolicy.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/os_image_stream.h"
#include "pool/candidates.h"
#include "pool/control_plane.h"
#include "pool/layering.h"
#include "pool/node_state.h"
#include "pool/status.h"
#include "pool/target.h"

namespace pintle::pool {

// The nodes that a policy allows to be updated now.
struct Admission {
  std::vector<bool> nodes;      // For each node of the situation: whether it may be updated.
  std::optional<int> capacity;  // How many more nodes may become unavailable; unset if the policy does not limit it.
};

// The inputs of Decide(); borrowed for the call.
struct Situation {
  const api::MachineConfigPool& pool;
  std::span<const NodeState> nodes;  // The pool's nodes.  Their order is kept wherever no rule reorders them.
  std::span<const api::MachineConfigNode* const> machine_config_nodes;
  Layering layering;
  Features features;
  std::span<const api::CertExpiry> cert_expirys;
  // The node that runs the operator's pod; empty if it is unknown.  It is updated after the other masters.
  std::string operator_node;
  const KnownConfigs& configs;
  std::span<const api::MachineConfigPool* const> all_pools;  // The pools of the cluster; `pool` may be among them.
  std::span<const api::OSImageStreamSet> os_image_streams;
  // These two are set only in a cluster with an arbiter: unavailable_arbiters for the pool of the masters, and
  // `masters` for the pool of the arbiter.
  std::size_t unavailable_arbiters = 0;
  std::optional<Masters> masters;
  std::optional<api::Time> now;  // The transition time for conditions whose status changes.
  // Nodes that have to be drained for the target and cannot be drained now; nullptr if no such node is known.
  const NodeNames* undrainable = nullptr;
  const Admission* admission = nullptr;  // nullptr if no policy is for the pool: all nodes may be updated.
};

// A node and the patch that updates it.
struct NodeUpdate {
  std::string node;
  NodePatch patch;

  static constexpr auto kFields = json::FieldList{
      json::Required{"node", &NodeUpdate::node},
      json::Required{"patch", &NodeUpdate::patch},
  };
};

struct Rollout {
  std::optional<int> max_unavailable;
  std::string max_unavailable_error;     // The reason why max_unavailable is not set.
  std::vector<std::string> unavailable;  // The names of the nodes that are unavailable.
  Candidates candidates;                 // Its nodes are positions in Situation::nodes; the policy may exclude some.
  std::optional<ImageReadiness> image;   // Set for a layered pool only.
  // The reason why no node is updated at all; empty if the rollout may continue.
  std::string hold_reason;
  std::vector<NodeUpdate> updates;                 // In the order in which the nodes are updated.
  std::vector<NodeUpdate> updates_of_unavailable;  // They need no capacity, since the nodes are unavailable already.
  api::MachineConfigPoolStatus status;
};

// The room for updates that Decide() has, whatever the admission is.
struct Headroom {
  std::string hold_reason;  // As in Rollout.
  int capacity = 0;         // How many more nodes that are ready may be updated now.
};
Headroom HeadroomOf(const Situation& situation);

// Returns the next step of the rollout.
Rollout Decide(const Situation& situation);

}  // namespace pintle::pool
