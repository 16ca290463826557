// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides about all pools: which nodes are updated, what the statuses are, and which labels, taints and annotations of
// nodes have to be corrected.
//
// All changes to a node are one patch.  A pool's status is written once, with the values after its nodes have been
// updated.  If nothing has changed, nothing is written.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "controller/changes.h"
#include "controller/pool_members.h"
#include "controller/pool_policies.h"
#include "controller/unwritten.h"
#include "controller/verdict.h"
#include "controller/view.h"
#include "pool/candidates.h"
#include "pool/rollout.h"

namespace pintle::controller {

// The type of the condition that reports a mistake in a pool (pool_members.h).
inline constexpr const char* kMisconfigured = "Misconfigured";

// Adds a part to a pool's status.
using StatusAddition = std::function<void(const api::MachineConfigPool& pool, api::MachineConfigPoolStatus& status)>;

struct RolloutInputs {
  const View& view;
  const PoolMembers& members;  // The nodes of each pool of the view.
  const Verdicts& verdicts;    // The outcomes of rendering.
  // Pools that are skipped, such as those for which a config is being rendered or a write is under way.
  const pool::PoolNames& skipped;
  const pool::NodeNames& undrainable;  // Nodes that cannot be drained now.
  pool::Features features;
  std::optional<api::Time> now;  // If unset, conditions get no times, and nodes of pools with a policy are not updated.
  StatusAddition addition = {};
  // Nodes that are not updated yet, although it is their turn, since they wait for a forecast.  nullptr if none wait.
  const pool::NodeNames* awaited = nullptr;
  UnwrittenNodes unwritten = {};           // Nodes with a write that has failed, or whose answer was lost.
  const PoolPolicies* policies = nullptr;  // nullptr if the cluster has none.
  // The server's error if the cluster cannot be read, or "".  If there is an error, the pass decides only about
  // statuses, in which pools report the error.
  std::string why_unread = {};
};

Changes RolloutPass(const RolloutInputs& inputs);

}  // namespace pintle::controller
