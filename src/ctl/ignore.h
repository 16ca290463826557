// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle ignore`: what is not to count until some time, although it is not as the config says.

#include <array>

#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"

namespace pintle::ctl {

inline constexpr std::array kIgnoreOptions = {
    Option{"--until", "DATE", "when it counts again: 2026-12-24, 2026-12-24T12:00:00Z, or 2h or 3d from now on"},
    Option{"--end", "THING", "let it count again now"},
    kRootOption,
    kListOption,
};

}  // namespace pintle::ctl
