// SPDX-License-Identifier: Apache-2.0
#pragma once

// The policy of a cluster, out of the object that has it.

#include "api/machine_configuration.h"

namespace pintle::plan {

// As the operator has completed it with the defaults; without an operator that keeps up with what the administrator
// writes, just that.
const api::NodeDisruptionPolicy& PolicyOf(const api::MachineConfiguration& configuration);

}  // namespace pintle::plan
