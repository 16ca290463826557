// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Ignition config inside of a MachineConfig.

#include <string>

#include "api/machine_config.h"
#include "base/result.h"
#include "ignition/config.h"
#include "json/report.h"

namespace pintle::machineconfig {

// In the newest version.  The error names the lines and columns of the text that the Machine Config Operator would have
// in its hands.
Result<ignition::Config> ParseIgnitionPart(const api::MachineConfig& config, json::Report& report);

// That error with what the operator says it was doing: nothing more of a config that it has read and cannot convert.
std::string ParseErrorText(const Error& error);

}  // namespace pintle::machineconfig
