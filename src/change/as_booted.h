// SPDX-License-Identifier: Apache-2.0
#pragma once

// What of a config is true of a machine before anything of it was applied.

#include "api/machine_config.h"
#include "base/result.h"
#include "host/deployments.h"
#include "host/host.h"
#include "plan/extensions.h"

namespace pintle::change {

// The same config with the image that is booted, of its kernel arguments those that it was booted with, and without the
// extensions and the kernel that are missing.
api::MachineConfig AsBooted(const host::DeployedImage& booted, const plan::MissingParts& missing,
                            api::MachineConfig config);

// The same, of this machine; where nothing is known to be booted the config stays what it is.
Result<api::MachineConfig> AsBooted(const host::Host& host, api::MachineConfig config);

}  // namespace pintle::change
