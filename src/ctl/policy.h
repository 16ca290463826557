// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the policy in the file of --policy, or else the policy by which the agent planned its last change.  A policy
// decides which changes need no reboot.

#include <string>

#include "api/machine_configuration.h"
#include "base/result.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"

namespace pintle::ctl {

// Returns the policy in a file.
Result<api::NodeDisruptionPolicy> ReadPolicyFile(const std::string& file);

Result<api::NodeDisruptionPolicy> PolicyFor(const CommandLine& line, const Machine& machine);

}  // namespace pintle::ctl
