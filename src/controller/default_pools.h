// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the built-in pools that a cluster lacks: master, worker and, in a cluster with an arbiter, arbiter.
//
// Those of an OpenShift cluster equal the ones that the Machine Config Operator makes.

#include <vector>

#include "controller/view.h"

namespace pintle::controller {

// Returns the pools to create.  An existing pool is left alone, however others have changed it.
std::vector<api::MachineConfigPool> MissingPools(const View& view);

}  // namespace pintle::controller
