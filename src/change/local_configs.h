// SPDX-License-Identifier: Apache-2.0
#pragma once

// The configs of a machine that belongs to no cluster, from files, as the one that it is to have.

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

struct WrittenConfigs {
  std::vector<WrittenConfig> configs;
  std::vector<std::string> others;    // Files in a directory that have not the name of a config.
  std::vector<std::string> left_out;  // What in a directory has the name of a config and is no file, with what it is.
};

// Files of any kind that people write, and directories for all such files in them.
Result<WrittenConfigs> ReadWrittenConfigs(std::span<const std::string> inputs);

// Says of one of the others why it is no config.
std::string OtherText(const std::string& path);

// Whether a file of this name in such a directory is a config.
bool IsConfigName(std::string_view name);

// Says of a config that has a secret which that is, without telling it: a password, or a file that not everyone is to
// read.
std::optional<std::string> SecretIn(const ignition::Config& config);

}  // namespace pintle::change
