// SPDX-License-Identifier: Apache-2.0
#pragma once

// What must follow when files have changed: reload, restart, reboot.

#include <span>

#include "api/machine_configuration.h"
#include "base/result.h"
#include "host/host.h"
#include "plan/step.h"

namespace pintle::change {

using Actions = std::span<const api::NodeDisruptionAction>;

// Whether one of them is a reboot, which makes all others needless.
bool HasReboot(Actions actions);

// Whether one of them changes what the service manager reads.
bool ChangesSystemd(std::span<const plan::Step> steps);

// Has the service manager read its configuration if that has changed, and then does all that is not a reboot, in order,
// until one fails.
// What is to be restarted and is gone since the steps were put is stopped.
Result<> Act(const host::Host& host, Actions actions, std::span<const plan::Step> steps);

}  // namespace pintle::change
