// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle validate`: all that is wrong with configs, before a machine says it.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array kValidateOptions = {
    Option{"-o", "FORMAT", "text, the default: one problem a line on standard error; or json"},
};

}  // namespace pintle::ctl
