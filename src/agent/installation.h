// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares the parts of a machine's config that are set only when it is installed: disks, RAIDs, filesystems, LUKS.

#include <optional>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "plan/irreconcilable_report.h"

namespace pintle::agent {

// The config with which the machine was first booted, as Ignition left it.
inline constexpr const char* kInstalledConfig = "/etc/mcs-machine-config-content.json";

// Returns the differences between the config that the machine has and the config with which it was installed, or
// nullopt if the latter is not known.
Result<std::optional<std::vector<plan::IrreconcilableChange>>> CompareWithInstallation(const Root& root);

}  // namespace pintle::agent
