// SPDX-License-Identifier: Apache-2.0
#pragma once

// A pool's state in one sentence, in the words of the ClusterOperator.

#include <string>
#include <string_view>

#include "api/machine_config_pool.h"

namespace pintle::clusterops {

// Returns a sentence such as "all 3 nodes are at latest configuration rendered-worker-1".
std::string PoolSummary(const api::MachineConfigPool& pool);

// Returns the last condition of a type, or nullptr.
const api::Condition* FindCondition(const api::MachineConfigPool& pool, std::string_view type);

// Returns whether a pool has a condition and the condition is true.
bool HasTrueCondition(const api::MachineConfigPool& pool, std::string_view type);

}  // namespace pintle::clusterops
