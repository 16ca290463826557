// SPDX-License-Identifier: Apache-2.0
#pragma once

// The configuration files of the container tools that templates make.  The files that nodes get are based on these.

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

// `configs` are made from the templates of one role.  It is an error if one of the three files is missing.
Result<RuntimeTemplates> FindRuntimeTemplates(std::span<const MachineConfig> configs);

}  // namespace pintle::generated
