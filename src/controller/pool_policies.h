// SPDX-License-Identifier: Apache-2.0
#pragma once

// The RolloutPolicies of pools as the pass uses them, and what it decides for their statuses.

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
  const api::RolloutPoolStatus* before = nullptr;  // What the policy's status has about the pool; nullptr if nothing.
  const std::map<std::string, pool::GateResult>* gate_results = nullptr;
  const pool::NodeNames* undisruptive = nullptr;
};

// By pool.  A pool without a policy is not among them.
using PoolPolicies = std::map<std::string, PoolPolicy, std::less<>>;

// What the status of a policy is to have about a pool.
struct PolicyDecision {
  api::RolloutPoolStatus status;
  std::vector<pool::RolloutNews> news;
  std::optional<WallTime> again;  // When to decide again, although nothing has changed in the cluster.
};

}  // namespace pintle::controller
