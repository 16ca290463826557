// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the built-in pools that a cluster lacks: master, worker and, in a cluster with an arbiter, arbiter.
//
// In an OpenShift cluster, the pools equal those that the Machine Config Operator makes.

#include <vector>

#include "controller/view.h"

namespace pintle::controller {

// Returns the pools to create.  An existing pool is left alone, however others have changed it.
std::vector<api::MachineConfigPool> MissingPools(const View& view);

}  // namespace pintle::controller
