// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the NodeDisruptionPolicy, which decides which changes need no reboot.  The policy is in the file that --policy
// names.  Without --policy, it is the policy by which the agent planned its last change.

#include <string>

#include "api/machine_configuration.h"
#include "base/result.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"

namespace pintle::ctl {

// Returns the policy in a file.
Result<api::NodeDisruptionPolicy> ReadPolicyFile(const std::string& file);

// Returns the policy in the file of --policy, or without --policy the one of the agent's last change.
Result<api::NodeDisruptionPolicy> PolicyFor(const CommandLine& line, const Machine& machine);

}  // namespace pintle::ctl
