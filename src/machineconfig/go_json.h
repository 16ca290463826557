// SPDX-License-Identifier: Apache-2.0
#pragma once

// The length of a MachineConfig as JSON that Go writes, which the limit on the size of a rendered config counts.

#include <cstddef>

#include "api/machine_config.h"

namespace pintle::machineconfig {

std::size_t GoJsonLength(const api::MachineConfig& config);

}  // namespace pintle::machineconfig
