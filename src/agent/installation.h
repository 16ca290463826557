// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a machine was installed with, which no later config changes: disks, RAIDs, filesystems, LUKS.

#include <optional>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "plan/irreconcilable_report.h"

namespace pintle::agent {

// The config that the machine's first boot was served, as Ignition has left it.
inline constexpr const char* kInstalledConfig = "/etc/mcs-machine-config-content.json";

// In what the config that the machine has differs from it; nothing: it is not known with what it was installed.
Result<std::optional<std::vector<plan::IrreconcilableChange>>> ComparedWithInstallation(const Root& root);

}  // namespace pintle::agent
