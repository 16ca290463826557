// SPDX-License-Identifier: Apache-2.0
#pragma once

// Many Ignition configs laid one over the other.

#include <vector>

#include "ignition/config.h"

namespace pintle::machineconfig {

// The same as ignition::Merge() with one after the other, in time proportional to what there is: merging two configs
// looks at all of both, and hundreds of configs add to one that grows.  In none of them a path or a unit stands twice.
ignition::Config MergeAll(ignition::Config base, std::vector<ignition::Config> children);

}  // namespace pintle::machineconfig
