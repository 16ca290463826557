// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle explain`: prints the wanted and the actual state of a thing, the configs that set it, and the actions that a
// change of it would need.

#include <array>

#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "ctl/private_option.h"

namespace pintle::ctl {

inline constexpr std::array kExplainOptions = {kPolicyOption, kRootOption, kShowPrivateOption, kOutputOption};

}  // namespace pintle::ctl
