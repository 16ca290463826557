// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle validate`: finds everything that is wrong with configs before a machine refuses them.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array kValidateOptions = {
    Option{"-o", "text|json|yaml", "text, the default: one problem a line on standard error; or data"},
};

}  // namespace pintle::ctl
