// SPDX-License-Identifier: Apache-2.0
#pragma once

// Performs the actions that must follow a change of files: reloads and restarts.

#include <span>

#include "api/machine_configuration.h"
#include "base/result.h"
#include "host/host.h"
#include "plan/step.h"

namespace pintle::change {

using Actions = std::span<const api::NodeDisruptionAction>;

// Returns whether one of the actions is a reboot, which makes all other actions unnecessary.
bool HasReboot(Actions actions);

// Returns whether one of the steps changes what the service manager reads.
bool ChangesSystemd(std::span<const plan::Step> steps);

// Makes the service manager reload its configuration if the steps change it.  Then performs all actions except a
// reboot, in order, until one fails.  If an action restarts or reloads a service whose unit file the steps removed, and
// systemd no longer finds the unit, the service is stopped instead.  The node must have been drained before.
Result<> Act(const host::Host& host, Actions actions, std::span<const plan::Step> steps);

}  // namespace pintle::change
