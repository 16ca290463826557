// SPDX-License-Identifier: Apache-2.0
#pragma once

// The RolloutPolicies of pools as the rollout pass uses them, and what the pass decides about the statuses of policies.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/rollout_policy.h"
#include "base/clock.h"
#include "pool/candidates.h"
#include "pool/rollout_policy.h"
#include "pool/waved_rollout.h"

namespace pintle::controller {

// The policy of a pool; its parts are borrowed for the pass.
struct PoolPolicy {
  const pool::Policy* policy = nullptr;  // nullptr if the policy cannot be used; then no node of the pool is updated.
  const api::RolloutPoolStatus* before = nullptr;  // The pool's part of the policy's status; nullptr if there is none.
  const std::map<std::string, pool::GateResult>* gate_results = nullptr;  // The latest results of the gates, by name.
  // Nodes whose change to the target is known to need neither a drain nor a reboot.
  const pool::NodeNames* undisruptive = nullptr;
};

// The key is the pool.  A pool without a policy has no entry.
using PoolPolicies = std::map<std::string, PoolPolicy, std::less<>>;

// The decision of a pass about a pool that has a policy.
struct PolicyDecision {
  api::RolloutPoolStatus status;  // The next value of the pool's part of the policy's status.
  std::vector<pool::RolloutNews> news;
  std::optional<WallTime> decide_again_at;  // When the decision may change although nothing in the cluster does.
};

}  // namespace pintle::controller
