// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Ignition config inside of a MachineConfig.

#include "api/machine_config.h"
#include "base/result.h"
#include "ignition/config.h"
#include "json/report.h"

namespace pintle::machineconfig {

// In the newest version.  The error names the lines and columns of the text that the Machine Config Operator would have
// in its hands.
Result<ignition::Config> ParseIgnitionPart(const api::MachineConfig& config, json::Report& report);

}  // namespace pintle::machineconfig
