// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files of the container tools as the templates have them, over which those of the nodes are made.

#include <span>
#include <string>

#include "base/result.h"
#include "generated/machine_config.h"

namespace pintle::generated {

struct RuntimeTemplates {
  std::string storage_conf;
  std::string registries_conf;
  std::string policy_json;
};

// `configs` are those that templates make for one role.  All three files have to be there.
Result<RuntimeTemplates> FindRuntimeTemplates(std::span<const MachineConfig> configs);

}  // namespace pintle::generated
