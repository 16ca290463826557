// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle finalize-staged`: for the unit that gives the next deployment its files when the machine shuts down.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array<Option, 0> kFinalizeOptions = {};

}  // namespace pintle::ctl
