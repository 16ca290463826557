// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges many Ignition configs.

#include <vector>

#include "ignition/config.h"

namespace pintle::machineconfig {

// Returns the same config as merging the children into `base` with ignition::Merge(), one after the other.  But each
// call of ignition::Merge() reads the whole merged config, which keeps growing; this function takes time proportional
// to the total size of the configs.  No path or unit may occur twice in one config.
ignition::Config MergeAll(ignition::Config base, std::vector<ignition::Config> children);

}  // namespace pintle::machineconfig
