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

// Returns the differences between the config that the machine has and the one that it was installed with, or nullopt if
// the config of the installation is not known.
Result<std::optional<std::vector<plan::IrreconcilableChange>>> CompareWithInstallation(const Root& root);

}  // namespace pintle::agent
