// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks names in a config that become parts of paths.

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::change {

// Returns an error for a name that would lead elsewhere than it seems, nowhere, or to a file that Pintle itself writes.
// Ignition's own validation looks at the endings of names only.
Result<> CheckNames(const ignition::Config& config);

}  // namespace pintle::change
