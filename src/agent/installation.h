// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares a machine's config with the config with which the machine was installed.  Only the parts that are applied
// at the installation are compared: disks, RAIDs, filesystems and LUKS.

#include <optional>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "plan/irreconcilable_report.h"

namespace pintle::agent {

// The path of the MachineConfig with which the machine was first booted.  Ignition wrote this file.
inline constexpr const char* kInstalledConfig = "/etc/mcs-machine-config-content.json";

// Returns the differences between the config that the machine has and the config with which it was installed, or
// nullopt if the latter is not known.
Result<std::optional<std::vector<plan::IrreconcilableChange>>> CompareWithInstallation(const Root& root);

}  // namespace pintle::agent
