// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many of a pool's nodes may be unavailable at once.

#include <cstddef>

#include "api/machine_config_pool.h"
#include "base/result.h"

namespace pintle::pool {

// What the pool says, one when it says nothing or nothing would remain, and always one for arbiters, of which a cluster
// has one.  A percentage is rounded down.  A pool may say a negative number, which stops it.
Result<int> MaxUnavailable(const api::MachineConfigPool& pool, std::size_t node_count);

}  // namespace pintle::pool
