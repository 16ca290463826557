// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an administrator says about updates in place, from files: by itself, or in the MachineConfiguration that has it.

#include <string>

#include "api/machine_configuration.h"
#include "base/result.h"
#include "machineconfig/input.h"

namespace pintle::machineconfig {

Result<api::NodeDisruptionPolicy> ReadPolicy(const std::string& file, Accepts accepts = Accepts::kAnything);
Result<api::IrreconcilableValidationOverrides> ReadOverrides(const std::string& file);

}  // namespace pintle::machineconfig
