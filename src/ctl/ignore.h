// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle ignore`: ignores findings about a thing until a given time, or lists the things that are ignored.

#include <array>

#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"

namespace pintle::ctl {

inline constexpr std::array kIgnoreOptions = {
    Option{"--until", "DATE", "the end: 2026-12-24, 2026-12-24T12:00:00Z, or a time from now such as 2h or 3d"},
    Option{"--end", "THING", "stop ignoring a thing"},
    kRootOption,
    kOutputOrNamesOption,
};

}  // namespace pintle::ctl
