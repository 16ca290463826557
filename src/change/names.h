// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks names in a config that become parts of paths.

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::change {

// Returns an error for a path or name that is not valid on the machine, or that leads to a file that Pintle itself
// writes.  Ignition's own validation only checks how the names of units and drop-ins end.
Result<> CheckNames(const ignition::Config& config);

}  // namespace pintle::change
