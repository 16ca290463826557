// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names in a config that become parts of paths.

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::change {

// An error for one that would lead somewhere else than it says, or nowhere, or to a file that Pintle itself writes.
// Validation is Ignition's, which looks at the endings of names only.
Result<> CheckNames(const ignition::Config& config);

}  // namespace pintle::change
