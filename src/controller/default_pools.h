// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pools that every cluster has.

#include <vector>

#include "controller/view.h"

namespace pintle::controller {

// Returns the pools that are missing, ready to be created.  Changes by others to existing pools are left alone.
std::vector<api::MachineConfigPool> MissingPools(const View& view);

}  // namespace pintle::controller
