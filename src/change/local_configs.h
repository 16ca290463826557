// SPDX-License-Identifier: Apache-2.0
#pragma once

// Renders the config of a machine without a cluster, from files on that machine.

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

// The name of the pool of such a machine, and the role of configs that name no role.
inline constexpr const char* kLocalPool = "local";

// A config as someone wrote it, with the path of its file.
struct WrittenConfig {
  std::string file;
  api::MachineConfig object;
  ignition::Config ignition;
};

// Renders the configs to one config.  Without configs, the result is the empty config.
Result<CurrentConfig> RenderLocally(std::vector<WrittenConfig> configs);

struct WrittenConfigs {
  std::vector<WrittenConfig> configs;
  std::vector<std::string> others;  // Files in a directory that are not named like configs.
  // Entries of a directory that are named like a config but are not regular files, such as "a.yaml is a pipe".
  std::vector<std::string> left_out;
};

// Reads MachineConfigs, Ignition configs and Butane configs from files.  A directory stands for all files in it that
// are named like configs.
Result<WrittenConfigs> ReadWrittenConfigs(std::span<const std::string> inputs);

// Returns the reason why a file in a directory does not count as a config: its name has none of the known endings.
std::string WhyNotConfig(const std::string& path);

// Returns whether a file of this name in a directory counts as a config.
bool IsConfigName(std::string_view name);

// Returns the place of a secret in a config: "the password of ..." or, for a file that not everyone may read, "the
// contents of ...".  Returns nullopt if the config has no secret.
std::optional<std::string> SecretIn(const ignition::Config& config);

}  // namespace pintle::change
