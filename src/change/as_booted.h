// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the parts of a config that a machine already has before the config is applied.

#include "api/machine_config.h"
#include "base/result.h"
#include "host/host.h"
#include "host/ostree/deployments.h"
#include "plan/extensions.h"

namespace pintle::change {

// Returns the config, changed to describe the booted deployment: with its image, with only the kernel arguments that it
// was booted with, and without the extensions and the kernel that are missing.
api::MachineConfig AsBooted(const host::DeployedImage& booted, const plan::MissingParts& missing,
                            api::MachineConfig config);

// Reads the deployment that this machine has booted, and returns the config changed in this way.  If the machine has
// booted none of its deployments, or has none, returns the config unchanged.
Result<api::MachineConfig> AsBooted(const host::Host& host, api::MachineConfig config);

}  // namespace pintle::change
