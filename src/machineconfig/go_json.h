// SPDX-License-Identifier: Apache-2.0
#pragma once

// The length of a MachineConfig in the JSON that Go writes, which the size limit for rendered configs refers to.

#include <cstddef>

#include "api/machine_config.h"

namespace pintle::machineconfig {

std::size_t GoJsonLength(const api::MachineConfig& config);

}  // namespace pintle::machineconfig
