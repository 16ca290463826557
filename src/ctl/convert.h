// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle convert`: converts a config to some version of Ignition, or to a MachineConfig.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array kConvertOptions = {
    Option{"--to", "WHAT", "machineconfig; ignition, the default; or Ignition 3.5, 3.4, 3.3, 3.2, 3.1 or 2.2"},
    Option{"-o", "FORMAT", "json or yaml; Ignition is always json, and yaml is the default for a MachineConfig"},
};

}  // namespace pintle::ctl
