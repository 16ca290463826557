// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle check`, `retry`, `pause` and `resume`: orders to the agent of this machine.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array<Option, 0> kOrderOptions = {};

}  // namespace pintle::ctl
