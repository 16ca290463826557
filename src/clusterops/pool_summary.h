// SPDX-License-Identifier: Apache-2.0
#pragma once

// Summarises the state of a pool in one sentence, which the status of the ClusterOperator has for each pool.

#include <string>
#include <string_view>

#include "api/machine_config_pool.h"

namespace pintle::clusterops {

// Returns a sentence such as "all 3 nodes are at latest configuration rendered-worker-1".  Returns "<unknown>" if none
// of these conditions is true: RenderDegraded, NodeDegraded, Updated, Updating, PinnedImageSetsDegraded.
std::string PoolSummary(const api::MachineConfigPool& pool);

// Returns the last condition of this type in the pool's status, or nullptr if there is none.
const api::Condition* LastCondition(const api::MachineConfigPool& pool, std::string_view type);

// Returns whether a pool has a condition of this type, and its status is "True".
bool HasTrueCondition(const api::MachineConfigPool& pool, std::string_view type);

}  // namespace pintle::clusterops
