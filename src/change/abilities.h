// SPDX-License-Identifier: Apache-2.0
#pragma once

// What of a machine can be changed at all.

#include <string>

#include "api/machine_config.h"
#include "base/result.h"
#include "host/host.h"
#include "plan/difference.h"

namespace pintle::change {

// Whether the OS itself is to change, and not just files.
bool ChangesOs(const plan::Difference& difference);

// A machine without OSTree takes the files, units and users of a config, and leaves what it says of the OS aside, as
// the Machine Config Operator does on one (spec/agent.md 10.2).  FIPS mode is never left aside: who asks for it relies
// on it.

// What of a config this machine leaves aside, in words; empty: nothing.
std::string LeftAside(const host::Host& host, const api::MachineConfigSpec& spec);

// Makes `have`, the config to plan from, say the same as `wanted` of what this machine leaves aside, so that no action
// follows from it.
void LeaveAside(const host::Host& host, const api::MachineConfig& wanted, api::MachineConfig& have);

// Names what a change needs and this machine cannot do.
Result<> CheckAbleTo(const host::Host& host, const plan::Difference& difference);

}  // namespace pintle::change
