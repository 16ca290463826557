// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle convert`: a config as Ignition JSON of the version that someone needs.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array kConvertOptions = {
    Option{"--to", "VERSION", "the Ignition version: 3.5, 3.4, 3.3, 3.2, 3.1 or 2.2"},
    Option{"-o", "FORMAT", "json, the default"},
};

}  // namespace pintle::ctl
