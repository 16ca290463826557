// SPDX-License-Identifier: Apache-2.0
#pragma once

// What of a config is true of a machine before anything of it was applied.

#include "change/current_config.h"
#include "host/deployments.h"

namespace pintle::change {

// The same config with the image that is booted, and of its kernel arguments those that it was booted with.
CurrentConfig AsBooted(const host::DeployedImage& booted, CurrentConfig config);

}  // namespace pintle::change
