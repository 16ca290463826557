// SPDX-License-Identifier: Apache-2.0
#pragma once

// The name of a rendered config: rendered-worker-970fc32ba5ad1333664e9c8c21b20ac1.
//
// It is a digest of all that the config says, in exactly the way of the Machine Config Operator.  Nodes compare configs
// by name alone, so a name that differs for equal contents would reboot every node of a pool.

#include <string>
#include <string_view>

#include "api/machine_config.h"
#include "base/result.h"
#include "machineconfig/go_yaml.h"

namespace pintle::machineconfig {

Result<std::string> RenderedName(std::string_view pool, const api::MachineConfigSpec& spec);

// The text that is hashed, after a salt.
Result<> WriteHashInput(const api::MachineConfigSpec& spec, const TextSink& sink);

}  // namespace pintle::machineconfig
