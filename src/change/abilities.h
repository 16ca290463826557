// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which parts of a config a machine can take.

#include <string>

#include "api/machine_config.h"
#include "base/result.h"
#include "host/host.h"
#include "plan/difference.h"

namespace pintle::change {

// Names the parts of its OS that a machine can change.
struct OsAbilities {
  OsAbilities() = default;
  // The conversion is implicit, so that whoever has the machine at hand can pass it.
  OsAbilities(const host::Host& host);

  bool has_deployments = false;   // It is an OSTree host.
  bool layers_packages = false;   // It has rpm-ostree.
  bool is_package_based = false;  // It has no OSTree, and its package manager changes the OS.
};

// Returns whether the OS itself is to change, and not just files.
bool ChangesOs(const plan::Difference& difference);

// A machine without OSTree takes the files, units and users of a config, and leaves aside its settings for the OS, as
// the Machine Config Operator does.  FIPS mode is never left aside: whoever asks for it relies on it.

// Returns the parts of a config that this machine leaves aside, in words, or "" if there are none.
std::string LeftAside(const OsAbilities& abilities, const api::MachineConfigSpec& spec);

// Copies to `have`, the config to plan from, the parts of `wanted` that this machine leaves aside, so that no action
// follows from them.
void LeaveAside(const OsAbilities& abilities, const api::MachineConfig& wanted, api::MachineConfig& have);

// Returns an error that names what a change needs and this machine cannot do.
Result<> CheckAbleTo(const OsAbilities& abilities, const plan::Difference& difference);

}  // namespace pintle::change
