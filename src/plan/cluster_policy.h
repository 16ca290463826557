// SPDX-License-Identifier: Apache-2.0
#pragma once

// Takes the policy of a cluster from its MachineConfiguration.

#include "api/machine_configuration.h"

namespace pintle::plan {

// Returns the policy in the status, which the operator has completed with the defaults.  If the status has none, or is
// older than the administrator's last change, returns the administrator's own policy.
const api::NodeDisruptionPolicy& PolicyOf(const api::MachineConfiguration& configuration);

}  // namespace pintle::plan
