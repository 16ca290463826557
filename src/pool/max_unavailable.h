// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes how many of a pool's nodes may be unavailable at once.

#include <cstddef>

#include "api/machine_config_pool.h"
#include "base/result.h"

namespace pintle::pool {

// Returns the pool's maxUnavailable, or 1 if it is not set or comes to 0.  For the arbiters' pool, this is always 1,
// since a cluster has one arbiter.  A percentage is rounded down.  A negative number is allowed; then no node that is
// available is updated.  Fails if the setting is a text other than a percentage.
Result<int> MaxUnavailable(const api::MachineConfigPool& pool, std::size_t node_count);

}  // namespace pintle::pool
