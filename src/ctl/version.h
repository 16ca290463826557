// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle version`: prints the version of this program.

#include <array>

#include "ctl/answer.h"
#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array kVersionOptions = {
    kOutputOption,
};

}  // namespace pintle::ctl
