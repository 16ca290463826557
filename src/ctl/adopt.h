// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle adopt`: prints a MachineConfig that sets a path to the state that the path has on this machine.

#include <array>

#include "api/machine_config.h"
#include "base/result.h"
#include "base/root.h"
#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"

namespace pintle::ctl {

inline constexpr std::array kAdoptOptions = {
    kRootOption,
    Option{"-o", "yaml|json|name", "print it as YAML, the default, or as JSON, or just its name"},
};

// Returns a config that sets a path to the state that the path has now.  The new config is for the same pool as the
// machine's config, whose name is `config_name`.
Result<api::MachineConfig> Adopt(const Root& root, const std::string& path, std::string_view config_name);

}  // namespace pintle::ctl
