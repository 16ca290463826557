// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle finalize-staged`: is run at shutdown by the unit that gives the next deployment its files.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array<Option, 0> kFinalizeOptions = {};

}  // namespace pintle::ctl
