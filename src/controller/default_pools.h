// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pools that every cluster has.

#include <vector>

#include "controller/view.h"

namespace pintle::controller {

// Those that are missing, as they are to be made.  What somebody changed on one that is there stays.
std::vector<api::MachineConfigPool> MissingPools(const View& view);

}  // namespace pintle::controller
