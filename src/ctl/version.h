// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle version`: which version this is.

#include <array>

#include "ctl/answer.h"
#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array kVersionOptions = {
    kDataOption,
};

}  // namespace pintle::ctl
