// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges many Ignition configs.

#include <vector>

#include "ignition/config.h"

namespace pintle::machineconfig {

// Returns what ignition::Merge() makes if it merges the children into `base` one after the other, but takes time
// proportional to their total size: each call of ignition::Merge() reads the whole merged config, which keeps growing.
// No path or unit may occur twice in one config.
ignition::Config MergeAll(ignition::Config base, std::vector<ignition::Config> children);

}  // namespace pintle::machineconfig
