// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which parts of a config a machine can apply.

#include <string>

#include "api/machine_config.h"
#include "base/result.h"
#include "host/host.h"
#include "plan/difference.h"

namespace pintle::change {

// The parts of its OS that a machine can change.  For a file tree that does not run, all members are false.
struct OsAbilities {
  OsAbilities() = default;
  // The conversion is implicit, so that callers can pass the Host.
  OsAbilities(const host::Host& host);

  bool has_deployments = false;  // The machine runs on OSTree, so it can change its image and its kernel arguments.
  bool layers_packages = false;  // The machine also has rpm-ostree, so it can change its kernel type and extensions.
  // The machine runs without OSTree.  Its package manager changes the OS, and Pintle does not.
  bool is_package_based = false;
};

// Returns whether a change concerns the OS itself, and not just files.
bool ChangesOs(const plan::Difference& difference);

// A package-based machine applies the files, units and users of a config, and leaves aside the config's settings for
// the OS, as the Machine Config Operator does.  FIPS mode is never left aside, because whoever asks for it relies on
// it.

// Returns a text with the parts of a config that this machine leaves aside, or "" if there are none.
std::string UnsupportedPartsText(const OsAbilities& abilities, const api::MachineConfigSpec& spec);

struct PartsToCopy {
  const api::MachineConfig& from;  // The config that the machine is to have.
  api::MachineConfig& to;          // The config that the machine has, and with which the plan begins.
};
// Copies the parts that this machine leaves aside, from `from` to `to`.  The two configs then agree on these parts, so
// no action follows from them.
void CopyUnsupportedParts(const OsAbilities& abilities, const PartsToCopy& configs);

// Returns an error if a change needs to change parts of the OS that this machine cannot change; the error names them.
// No machine can change its FIPS mode.
Result<> CheckAbleTo(const OsAbilities& abilities, const plan::Difference& difference);

}  // namespace pintle::change
