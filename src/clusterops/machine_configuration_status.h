// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the status of the MachineConfiguration.  The status has the node disruption policy that agents follow: the
// defaults and, where they differ, the administrator's settings.

#include <optional>

#include "api/machine_configuration.h"

namespace pintle::clusterops {

// Returns the status that the object is to have, or nullopt if it has this status already.  Fields that other programs
// write stay as they are.
std::optional<api::MachineConfigurationStatus> NextStatus(const api::MachineConfiguration& configuration);

}  // namespace pintle::clusterops
