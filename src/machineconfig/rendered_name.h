// SPDX-License-Identifier: Apache-2.0
#pragma once

// The name of a rendered config, such as rendered-worker-970fc32ba5ad1333664e9c8c21b20ac1.
//
// The name has a digest of everything in the config, computed exactly as the Machine Config Operator does.  Nodes
// compare configs by name alone, so a different name for equal contents would reboot every node of a pool.

#include <string>
#include <string_view>

#include "api/machine_config.h"
#include "base/result.h"
#include "machineconfig/go_yaml.h"

namespace pintle::machineconfig {

// Fails if the config has characters that YAML does not allow.
Result<std::string> RenderedName(std::string_view pool, const api::MachineConfigSpec& spec);

// Writes the text whose digest is in the name.  The digest also covers a salt, which is hashed before this text.
Result<> WriteHashInput(const api::MachineConfigSpec& spec, const TextSink& sink);

}  // namespace pintle::machineconfig
