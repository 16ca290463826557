// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle version`: which version this is.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array kVersionOptions = {
    Option{"-o", "json", "print JSON instead of a text"},
};

}  // namespace pintle::ctl
