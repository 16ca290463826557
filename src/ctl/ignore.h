// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle ignore`: makes findings on a thing not count for some time.

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
