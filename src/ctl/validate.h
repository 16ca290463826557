// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle validate`: finds everything that is wrong with configs before a machine refuses them.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array kValidateOptions = {
    Option{"-o", "text|json|yaml",
           "text, the default: one problem per line on standard error; json or yaml: a list on standard output"},
};

}  // namespace pintle::ctl
