// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle verify`: checks whether a machine is as its config wants it, and prints all differences.

#include <array>

#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "ctl/private_option.h"

namespace pintle::ctl {

inline constexpr std::array kVerifyOptions = {kRootOption, kShowPrivateOption, kOutputOrNamesOption};

}  // namespace pintle::ctl
