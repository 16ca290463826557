// SPDX-License-Identifier: Apache-2.0
#pragma once

// The length of a MachineConfig in the JSON that Go writes.  The size limit for rendered configs refers to this length.

#include <cstddef>

#include "api/machine_config.h"

namespace pintle::machineconfig {

// Returns the length in bytes.
std::size_t GoJsonLength(const api::MachineConfig& config);

}  // namespace pintle::machineconfig
