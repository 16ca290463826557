// SPDX-License-Identifier: Apache-2.0
#pragma once

// `machine-config-daemon`: accepts the commands of the Machine Config Operator's program of this name, and answers like
// that program, because units, scripts and people still use these commands.

#include <span>
#include <string_view>

#include "ctl/verbs.h"

namespace pintle::ctl {

inline constexpr std::string_view kOldProgram = "machine-config-daemon";

// Runs the command that the words name.
ExitStatus MachineConfigDaemon(std::span<const char* const> words);

}  // namespace pintle::ctl
