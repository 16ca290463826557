// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the file that reserves amounts of a node's resources for its system services, or lets the node calculate these
// amounts at boot.
//
// The kubelet's own configuration has no field for the calculation, so three of the amounts are in a file of
// environment variables.

#include <optional>

#include "generated/kubelet_configuration.h"
#include "generated/machine_config.h"

namespace pintle::generated {

// Moves the amounts of memory, CPU and storage from `reserved`, the systemReserved of a KubeletConfig, to the file.
// Returns no file if there are no such amounts and `auto_sizing` is unset.
std::optional<NewFile> TakeNodeSizing(std::optional<bool> auto_sizing, TextsByName& reserved);

}  // namespace pintle::generated
