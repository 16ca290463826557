// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle pause` and `pintle resume`: whether the agent of this machine may change it.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array<Option, 0> kPauseOptions = {};
inline constexpr std::array<Option, 0> kResumeOptions = {};

}  // namespace pintle::ctl
