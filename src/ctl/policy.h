// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which changes of a machine need no reboot: by --policy, or else as its cluster has said last.

#include "api/machine_configuration.h"
#include "base/result.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"

namespace pintle::ctl {

Result<api::NodeDisruptionPolicy> PolicyFor(const CommandLine& line, const Machine& machine);

}  // namespace pintle::ctl
