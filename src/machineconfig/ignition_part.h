// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses the Ignition config inside a MachineConfig.

#include <string>

#include "api/machine_config.h"
#include "base/result.h"
#include "ignition/config.h"
#include "json/report.h"

namespace pintle::machineconfig {

// Returns the config in the newest version.  An error names a line and a column of the JSON
// text that the Machine Config Operator would parse, not of the file that a person wrote.
Result<ignition::Config> ParseIgnitionPart(const api::MachineConfig& config, json::Report& report);

// Returns the error as the operator reports it: with "failed to parse Ignition config" in front, unless the config
// could be parsed, but not converted.
std::string ParseErrorText(const Error& error);

}  // namespace pintle::machineconfig
