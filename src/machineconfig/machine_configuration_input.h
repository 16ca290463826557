// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads an administrator's settings for updates of running nodes from a file.  The file has either one setting alone,
// with or without its name, or a MachineConfiguration with the setting.  The result is empty if the file is empty, or
// if its MachineConfiguration does not have the setting.

#include <string>

#include "api/machine_configuration.h"
#include "base/result.h"
#include "machineconfig/input.h"

namespace pintle::machineconfig {

Result<api::NodeDisruptionPolicy> ReadPolicy(const std::string& file, Accepts accepts = Accepts::kAnything);
Result<api::IrreconcilableValidationOverrides> ReadOverrides(const std::string& file);

}  // namespace pintle::machineconfig
