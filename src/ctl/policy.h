// SPDX-License-Identifier: Apache-2.0
#pragma once

// Returns the policy for changes that need no reboot: from --policy, or else the one by which the agent planned its
// last change.

#include <string>

#include "api/machine_configuration.h"
#include "base/result.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"

namespace pintle::ctl {

// The policy in a file that a person names.
Result<api::NodeDisruptionPolicy> ReadPolicyFile(const std::string& file);

Result<api::NodeDisruptionPolicy> PolicyFor(const CommandLine& line, const Machine& machine);

}  // namespace pintle::ctl
