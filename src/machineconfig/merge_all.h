// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges many Ignition configs.

#include <vector>

#include "ignition/config.h"

namespace pintle::machineconfig {

// Does the same as calling ignition::Merge() for one after the other, but in time proportional to the total size: a
// merge of two configs reads both, and with hundreds of configs one of them keeps growing.  No path or unit may occur
// twice in one config.
ignition::Config MergeAll(ignition::Config base, std::vector<ignition::Config> children);

}  // namespace pintle::machineconfig
