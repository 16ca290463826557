// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the situation of a pool, from which its rollout is decided, out of objects of a cluster or of files.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config_pool.h"
#include "base/clock.h"
#include "base/result.h"
#include "ctl/cluster_objects.h"
#include "pool/rollout.h"

namespace pintle::ctl {

struct RolloutQuestion {
  // The names of the files are empty if the objects are read from a cluster.
  std::string pool_file;
  std::string nodes_file;
  std::vector<std::string> other_files;
  std::vector<std::string> feature_gates;
  std::string operator_node;  // The node that the operator runs on; empty if it is unknown.
  WallTime now = {};          // The time at which a RolloutPolicy decides.
};

// Returns the pool with this name, or nullptr.
const api::MachineConfigPool* PoolNamed(std::string_view name, const ClusterObjects& objects);

// Returns the policy of a pool, or nullptr.
const api::RolloutPolicy* PolicyOf(const api::MachineConfigPool& pool, const ClusterObjects& objects);

// Returns the status that a policy reports for the pool with this name, or nullptr.
const api::RolloutPoolStatus* PoolStatusIn(const api::RolloutPolicy& policy, std::string_view pool);

// Calls `decide` with the situation of a pool.  The situation is valid only during this call.  The files in the
// question are not read.  Warnings about the objects are appended to `warnings`.
Result<> WithSituation(const RolloutQuestion& question, const api::MachineConfigPool& pool,
                       const ClusterObjects& objects, std::vector<std::string>& warnings,
                       const std::function<void(const pool::Situation&)>& decide);

}  // namespace pintle::ctl
