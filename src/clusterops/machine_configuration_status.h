// SPDX-License-Identifier: Apache-2.0
#pragma once

// The status of the MachineConfiguration: the policy that agents act on, which is the administrator's on top of the
// defaults.

#include <optional>

#include "api/machine_configuration.h"

namespace pintle::clusterops {

// Returns the status that the object is to have, or nullopt if it has it.  What others report there stays.
std::optional<api::MachineConfigurationStatus> NextStatus(const api::MachineConfiguration& configuration);

}  // namespace pintle::clusterops
