// SPDX-License-Identifier: Apache-2.0
#pragma once

// Takes the policy of a cluster from the object that has it.

#include "api/machine_configuration.h"

namespace pintle::plan {

// Returns the policy as the operator completed it with the defaults, or, if no operator keeps up with the
// administrator's changes, the administrator's own.
const api::NodeDisruptionPolicy& PolicyOf(const api::MachineConfiguration& configuration);

}  // namespace pintle::plan
