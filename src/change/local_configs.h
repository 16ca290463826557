// SPDX-License-Identifier: Apache-2.0
#pragma once

// The configs of a machine that belongs to no cluster, from files, as the one that it is to have.

#include <span>
#include <string>
#include <vector>

#include "api/machine_config.h"
#include "base/result.h"
#include "change/current_config.h"
#include "machineconfig/config_input.h"
#include "machineconfig/writers.h"

namespace pintle::change {

// The pool that such a machine counts as, and the role of configs that say none.
inline constexpr const char* kLocalPool = "local";

// A config as someone wrote it, with the name of its file.
struct WrittenConfig {
  std::string file;
  api::MachineConfig object;
  ignition::Config ignition;
};

// Renders them.  None at all are the config that says nothing.
Result<change::CurrentConfig> RenderLocally(std::vector<WrittenConfig> configs);

// Files of any kind that people write, and directories for all such files in them.
Result<std::vector<WrittenConfig>> ReadWrittenConfigs(std::span<const std::string> inputs);

}  // namespace pintle::change
