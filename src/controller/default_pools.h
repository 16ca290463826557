// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pools that every cluster has.

#include <vector>

#include "controller/view.h"

namespace pintle::controller {

// Returns whether the cluster makes this pool itself.  Other pools also get the configs of its workers.
bool IsBuiltIn(const api::MachineConfigPool& pool);

// Returns the pools that are missing, ready to be created.  Changes by others to existing pools are left alone.
std::vector<api::MachineConfigPool> MissingPools(const View& view);

}  // namespace pintle::controller
