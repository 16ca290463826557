// SPDX-License-Identifier: Apache-2.0
#pragma once

// Renders the config of a machine without a cluster from files.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config.h"
#include "base/result.h"
#include "change/current_config.h"
#include "machineconfig/config_input.h"
#include "machineconfig/writers.h"

namespace pintle::change {

// The name of the pool of such a machine, and the role of configs that name none.
inline constexpr const char* kLocalPool = "local";

// A config as someone wrote it, with the path of its file.
struct WrittenConfig {
  std::string file;
  api::MachineConfig object;
  ignition::Config ignition;
};

// Renders one config from all of them.  Without configs, the result is the empty config.
Result<change::CurrentConfig> RenderLocally(std::vector<WrittenConfig> configs);

struct WrittenConfigs {
  std::vector<WrittenConfig> configs;
  std::vector<std::string> others;  // Files in a directory that are not named like configs.
  // Entries of a directory that are named like a config but are not regular files, such as "a.yaml is a pipe".
  std::vector<std::string> left_out;
};

// Reads MachineConfigs, Ignition and Butane from files; a directory stands for all files in it with a name of a config.
Result<WrittenConfigs> ReadWrittenConfigs(std::span<const std::string> inputs);

// Returns why one of the others is no config.
std::string WhyNotConfig(const std::string& path);

// Returns whether a file of this name in such a directory is a config.
bool IsConfigName(std::string_view name);

// Returns where a config has a secret, without revealing it: "the password of ..." or, for a file that not everyone may
// read, "the contents of ...".  Returns nullopt if there is none.
std::optional<std::string> SecretIn(const ignition::Config& config);

}  // namespace pintle::change
