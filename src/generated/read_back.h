// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads files out of the configs that were made from templates.
//
// The settings of users are merged over these files, so the contents of a file are needed after it has become a part of
// a config.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "generated/machine_config.h"

namespace pintle::generated {

// Looks for the file in the configs, in the order of their names, and returns the contents that it finds first, or
// nullopt.  It skips configs that cannot be parsed, and files without inline contents.
std::optional<std::string> ContentsOfFile(std::span<const MachineConfig> configs, std::string_view path);

// Returns why the config with the last name cannot be parsed, or nullopt if it can be parsed.  If no config has a file,
// the operator reports the problem of the config that it has searched last.
std::optional<std::string> ParseProblemOfLast(std::span<const MachineConfig> configs);

}  // namespace pintle::generated
