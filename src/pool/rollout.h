// SPDX-License-Identifier: Apache-2.0
#pragma once

// One look at a pool: who is told what next, why others are not, and what the pool's status says.
//
// The controller acts on it, and the command line shows it, so that what a preview says is what happens.

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

// All that decides.  It is looked at and not kept.
struct Situation {
  const api::MachineConfigPool& pool;
  std::span<const NodeState> nodes;  // The pool's.  Their order is kept as long as nothing else decides.
  std::span<const api::MachineConfigNode* const> machine_config_nodes;
  Layering layering;
  Features features;
  std::vector<api::CertExpiry> cert_expirys;
  std::string operator_node;  // Where the operator runs: of several masters, that one comes last.
  KnownConfigs configs;
  std::span<const api::MachineConfigPool* const> other_pools;
  std::span<const api::OSImageStreamSet> os_image_streams;
  // Of a cluster with an arbiter: of the master pool, how many arbiters are unavailable; of the arbiter's, the masters.
  std::size_t unavailable_arbiters = 0;
  std::optional<Masters> masters;
  std::optional<api::Time> now;
  // Nodes that need a drain for the target and cannot be drained now; nullptr: none that is known.
  const NodeNames* undrainable = nullptr;
};

// A node and what it is told.
struct Told {
  std::string node;
  NodePatch patch;

  static constexpr auto kFields = json::FieldList{
      json::Required{"node", &Told::node},
      json::Required{"patch", &Told::patch},
  };
};

struct Rollout {
  std::optional<int> max_unavailable;
  std::string max_unavailable_error;  // Why there is none.
  std::vector<std::string> unavailable;
  Candidates candidates;                // Places in the situation's nodes.
  std::optional<ImageReadiness> image;  // Of a layered pool.
  // Why nobody is told anything, whatever the candidates.  Empty when the rollout may go on.
  std::string held;
  std::vector<Told> told;        // In the order in which they are told.
  std::vector<Told> recovering;  // And these, who are unavailable already and need no capacity.
  api::MachineConfigPoolStatus status;
};

Rollout Decide(const Situation& situation);

}  // namespace pintle::pool
